/* SPDX-License-Identifier: GPL-2.0-only */
/* The end of stubs: code that functions of the kernel have called. */
#ifndef _KADAPT_STUBS_H
#define _KADAPT_STUBS_H

#include <linux/rcupdate.h>

/*
 * No function calls the stub any more, but a task may have been interrupted or
 * preempted there: wait for all tasks, and for what interrupts on each processor.
 */
static inline void kadapt_wait_for_stubs(void)
{
	synchronize_rcu_tasks();
#ifdef CONFIG_TASKS_RUDE_RCU
	synchronize_rcu_tasks_rude();
#endif
}

#endif /* _KADAPT_STUBS_H */
