/* SPDX-License-Identifier: GPL-2.0-only */
/* A task's state: its phase, when the phase began, and what the phase changed. */
#ifndef _KADAPT_STATE_H
#define _KADAPT_STATE_H

#include <linux/list.h>
#include <linux/preempt.h>
#include <linux/refcount.h>
#include <linux/task_work.h>
#include <linux/types.h>
#include <linux/xarray.h>

#include "choice/choice.h"
#include "phase/counters.h"
#include "phase/quantum.h"

#define KADAPT_NO_PHASE U32_MAX

struct kadapt_client;
struct kadapt_code;
struct task_struct;

struct kadapt_task {
	struct hlist_node entry;
	struct list_head of_client;
	refcount_t refs;		/* of the table and of a request */
	struct task_struct *task;
	struct kadapt_client *client;
	u32 phase;
	struct kadapt_count *count;	/* of this phase, in counts */
	struct kadapt_start start;
	struct kadapt_quantum quantum;
	struct kadapt_choice choice;
	struct xarray counts;		/* phase -> struct kadapt_count */
	struct preempt_notifier notifier;
	u64 switched_out_ns;
	bool gone;			/* the task never runs again */
	bool dying;			/* it never runs in user mode again */
	unsigned long requests;
	struct callback_head work;
	struct rcu_head rcu;
};

/* The current task's state, or NULL. */
struct kadapt_task *kadapt_state_own(void);
/* The current task's state for this client, created if need be; or ERR_PTR(). */
struct kadapt_task *kadapt_state_for(struct kadapt_client *client);
/* Count the stay in the present phase, if any, and end it. */
void kadapt_state_end_phase(struct kadapt_task *state, u64 now_ns);
/* The same, and undo what the phase changed. */
void kadapt_state_leave(struct kadapt_task *state);
/* Free the states of tasks that are gone. Returns true if tasks are dying. */
bool kadapt_states_reap(void);

/*
 * Make all tasks drop the units of the mask, which have this code. Returns
 * how many still take them, and one of those; those in user mode drop the units
 * soon.
 */
unsigned int kadapt_states_drop(u32 mask, const struct kadapt_code *code,
				struct kadapt_keeper *keeper);

/*
 * Write a line "PID NAME" for each task that takes a unit of the mask, as many as
 * fit into a page. Returns the number of bytes.
 */
int kadapt_states_list(u32 mask, char *page);

void kadapt_tasks_undo(struct kadapt_client *client);
void kadapt_tasks_close(struct kadapt_client *client);

void kadapt_tasks_init(void);
void kadapt_tasks_exit(void);

#endif /* _KADAPT_STATE_H */
