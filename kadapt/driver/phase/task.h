/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _KADAPT_TASK_H
#define _KADAPT_TASK_H

struct kadapt_client;
struct kadapt_counters;
struct kadapt_phase;

int kadapt_task_enter(struct kadapt_client *client, unsigned long phase);
int kadapt_task_leave(struct kadapt_client *client);
/* Whether the current task is in this phase. */
bool kadapt_task_is_in(const struct kadapt_client *client,
		       unsigned long number);
const struct kadapt_phase *
kadapt_task_phase(const struct kadapt_client *client);
bool kadapt_task_memory_is_plain(void);
void kadapt_task_populated(unsigned long bytes);
int kadapt_task_counters(struct kadapt_client *client,
			 struct kadapt_counters *counters);

#endif /* _KADAPT_TASK_H */
