// SPDX-License-Identifier: GPL-2.0-only
/*
 * The states of observed tasks, found by task.
 *
 * Lifetime. A state begins when its task is named, or created by an observed
 * task. It ends at the last switch away from its task, under the runqueue's
 * lock, where nothing can be freed or waited for. So ended states wait in a list,
 * and a work makes them free again after a grace period. Lookups take RCU only.
 */
#include <linux/hashtable.h>
#include <linux/pid.h>
#include <linux/rculist.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "probe/layout.h"
#include "probe/session.h"

static_assert(sizeof(struct kadapt_probe_record) == RECORD_BYTES);
static_assert(offsetof(struct kadapt_probe_record, inclusive) == RECORD_INCLUSIVE);
static_assert(offsetof(struct kadapt_probe_record, children) == RECORD_CHILDREN);
static_assert(offsetof(struct kadapt_probe_record, bytes) == RECORD_RESULTS);
static_assert(offsetof(struct kadapt_probe_record, histogram) == RECORD_HISTOGRAM);
static_assert(KADAPT_PROBE_TIME == KIND_TIME);
static_assert(KADAPT_PROBE_BYTES_LONG == KIND_BYTES_LONG);
static_assert(KADAPT_PROBE_BYTES_INT == KIND_BYTES_INT);
static_assert(KADAPT_PROBE_POINT == KIND_POINT);
static_assert(KADAPT_PROBE_KINDS == KIND_CORRECTED);
static_assert(offsetof(struct kadapt_probe_state, away) == STATE_AWAY);
static_assert(offsetof(struct kadapt_probe_state, top) == STATE_TOP);
static_assert(offsetof(struct kadapt_probe_state, number) == STATE_NUMBER);
static_assert(sizeof(struct kadapt_probe_event) == EVENT_BYTES);
static_assert(offsetof(struct kadapt_probe_event, begin) == EVENT_BEGIN);
static_assert(offsetof(struct kadapt_probe_event, end) == EVENT_END);
static_assert(offsetof(struct kadapt_probe_event, what) == EVENT_WHAT);
static_assert(offsetof(struct kadapt_probe_event, task) == EVENT_TASK);
static_assert(offsetof(struct kadapt_probe_event, sequence) == EVENT_SEQUENCE);
static_assert(offsetof(struct kadapt_probe_frame, begin) == CALL_BEGIN);
static_assert(offsetof(struct kadapt_probe_frame, parent) == CALL_PARENT);
static_assert(offsetof(struct kadapt_probe_frame, record) == CALL_RECORD);
static_assert(sizeof(struct kadapt_probe_frame) == CALL_FUNCTION);

#define TASKS		1024
#define RENEWAL_PAUSE	(HZ / 10 + 1)

DEFINE_PER_CPU(struct kadapt_probe_state *, kadapt_probe_state);
DEFINE_PER_CPU(void *, kadapt_probe_block);

static DEFINE_HASHTABLE(tasks, 10);
/* Protects the table and the list of free states. */
static DEFINE_RAW_SPINLOCK(tasks_lock);
static struct kadapt_probe_state *states;
static struct hlist_head free_states;
static LLIST_HEAD(ended);

static void renew(struct work_struct *work);
static DECLARE_DELAYED_WORK(renewal, renew);

notrace struct kadapt_probe_state *
kadapt_probe_task_find(const struct task_struct *task)
{
	struct kadapt_probe_state *state;

	hash_for_each_possible_rcu_notrace(tasks, state, entry,
					   (unsigned long)task)
		if (state->task == task)
			return state;
	return NULL;
}

static void free_ended(void)
{
	struct llist_node *list = llist_del_all(&ended);
	struct kadapt_probe_state *state, *next;
	unsigned long flags;

	if (!list)
		return;
	/* A processor may still look at an ended state's chain. */
	synchronize_rcu();
	raw_spin_lock_irqsave(&tasks_lock, flags);
	llist_for_each_entry_safe(state, next, list, ended)
		hlist_add_head(&state->entry, &free_states);
	raw_spin_unlock_irqrestore(&tasks_lock, flags);
}

static void renew(struct work_struct *work)
{
	free_ended();
	schedule_delayed_work(&renewal, RENEWAL_PAUSE);
}

int kadapt_probe_tasks_create(void)
{
	unsigned int i;

	states = kvcalloc(TASKS, sizeof(*states), GFP_KERNEL);
	if (!states)
		return -ENOMEM;
	hash_init(tasks);
	INIT_HLIST_HEAD(&free_states);
	for (i = 0; i < TASKS; i++)
		hlist_add_head(&states[i].entry, &free_states);
	schedule_delayed_work(&renewal, RENEWAL_PAUSE);
	return 0;
}

void kadapt_probe_tasks_destroy(void)
{
	cancel_delayed_work_sync(&renewal);
	init_llist_head(&ended);
	kvfree(states);
	states = NULL;
}

static notrace struct kadapt_probe_state *take_free(void)
{
	struct hlist_node *first = free_states.first;

	if (!first)
		return NULL;
	hlist_del_init(first);
	return hlist_entry(first, struct kadapt_probe_state, entry);
}

static notrace void begin(struct kadapt_probe_state *state,
			  struct task_struct *task)
{
	state->away = 0;
	state->left = 0;
	state->task = task;
	state->number = task_pid_nr(task);
	state->base.record = kadapt_probe_records_bytes() -
			     sizeof(struct kadapt_probe_record);
	state->top = &state->base;
	kadapt_probe_block_enter(state, task, KADAPT_PROBE_NO_PHASE);
	hash_add_rcu(tasks, &state->entry, (unsigned long)task);
}

notrace int kadapt_probe_task_add(struct task_struct *task)
{
	struct kadapt_probe_state *state;
	unsigned long flags;
	int error = 0;

	raw_spin_lock_irqsave(&tasks_lock, flags);
	/* Of a task that ends now, either this or its last switch sees that. */
	if (READ_ONCE(task->exit_state)) {
		error = -ESRCH;
	} else if (kadapt_probe_task_find(task)) {
		error = -EEXIST;
	} else {
		state = take_free();
		if (state)
			begin(state, task);
		else
			error = -ENOSPC;
	}
	raw_spin_unlock_irqrestore(&tasks_lock, flags);
	return error;
}

notrace void kadapt_probe_task_end(struct kadapt_probe_state *state)
{
	kadapt_probe_block_leave(state);
	raw_spin_lock(&tasks_lock);
	hash_del_rcu(&state->entry);
	raw_spin_unlock(&tasks_lock);
	llist_add(&state->ended, &ended);
}

notrace void kadapt_probe_task_forget(const struct task_struct *task)
{
	struct kadapt_probe_state *state;

	/* See kadapt_probe_task_add(). */
	raw_spin_lock(&tasks_lock);
	state = kadapt_probe_task_find(task);
	raw_spin_unlock(&tasks_lock);
	if (state)
		kadapt_probe_task_end(state);
}

static bool is_inside(const struct kadapt_probe_state *state)
{
	return READ_ONCE(state->top) != &state->base;
}

void kadapt_probe_visit_inside(kadapt_probe_visit *visit, void *data)
{
	struct kadapt_probe_state *state;
	unsigned long flags;
	int bucket;

	/* A state that is in the table has a task that has not ended. */
	raw_spin_lock_irqsave(&tasks_lock, flags);
	hash_for_each(tasks, bucket, state, entry)
		if (is_inside(state))
			visit(state, data);
	raw_spin_unlock_irqrestore(&tasks_lock, flags);
}

static void count(struct kadapt_probe_state *state, void *data)
{
	++*(unsigned int *)data;
}

unsigned int kadapt_probe_tasks_inside(void)
{
	unsigned int tasks_inside = 0;

	kadapt_probe_visit_inside(count, &tasks_inside);
	return tasks_inside;
}
