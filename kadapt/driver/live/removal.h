/* SPDX-License-Identifier: GPL-2.0-only */
/* Waits until no task is inside a unit. */
#ifndef _KADAPT_REMOVAL_H
#define _KADAPT_REMOVAL_H

/* Tasks have so long to leave a unit that is to be removed. */
#define KADAPT_REMOVAL_LONGEST	(HZ)
/* Between two looks at the tasks, at least. */
#define KADAPT_REMOVAL_PAUSE_US	2000

struct kadapt_code;
struct kadapt_keeper;

/*
 * Wait until no other task can return to the code, which nobody enters
 * any more. Returns 0, or -EBUSY and the task that has not left in time.
 */
int kadapt_removal_wait(const struct kadapt_code *code,
			struct kadapt_keeper *keeper);

#endif /* _KADAPT_REMOVAL_H */
