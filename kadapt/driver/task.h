/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _KADAPT_TASK_H
#define _KADAPT_TASK_H

#include <linux/types.h>

struct kadapt_client;
struct kadapt_counters;
struct task_struct;

int kadapt_task_enter(struct kadapt_client *client, unsigned long phase);
int kadapt_task_leave(struct kadapt_client *client);
int kadapt_task_counters(struct kadapt_client *client,
			 struct kadapt_counters *counters);

void kadapt_tasks_undo(struct kadapt_client *client);
void kadapt_tasks_close(struct kadapt_client *client);

void kadapt_task_forked(struct task_struct *child);
void kadapt_task_exits(void);

#endif /* _KADAPT_TASK_H */
