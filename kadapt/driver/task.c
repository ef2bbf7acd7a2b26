// SPDX-License-Identifier: GPL-2.0-only
/*
 * A task's state: which phase it is in, since when, what that changed.
 *
 * Lifetime. A state is made when its task first enters a phase and taken out of
 * the table when the task ends or the file is closed. Only the task itself does
 * either, so its own state can't go away under it, and only the task itself
 * touches what its state holds, without a lock. Who closes a file from another
 * task asks the tasks concerned, by task work, which runs before they are next
 * in user mode. A task that ends passes the exit probe before it runs its last
 * task work; a request that is on its way holds a reference to the state and,
 * because its code is here, to the module.
 *
 * The lock guards the table's chains and the clients' lists; looking up takes
 * RCU only, because chains hold other tasks' states, too.
 */
#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/hashtable.h>
#include <linux/module.h>
#include <linux/rculist.h>
#include <linux/refcount.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/task_work.h>
#include <linux/xarray.h>

#include "client.h"
#include "counters.h"
#include "quantum.h"
#include "task.h"
#include "uapi/kadapt.h"

#define NO_PHASE U32_MAX

/* Bits of kadapt_task.requests. */
#define REQUEST_UNDO 0

struct kadapt_task {
	struct hlist_node entry;
	struct list_head of_client;
	refcount_t refs;		/* the table's, and a request's */
	struct task_struct *task;
	struct kadapt_client *client;
	u32 phase;
	struct kadapt_count *count;	/* of this phase, in counts */
	struct kadapt_start start;
	struct kadapt_quantum quantum;
	struct xarray counts;		/* phase -> struct kadapt_count */
	unsigned long requests;
	struct callback_head work;
	struct rcu_head rcu;
};

static DEFINE_HASHTABLE(tasks, 8);
static DEFINE_SPINLOCK(tasks_lock);

/* The current task's state, or NULL; it stays until the task itself ends it. */
static struct kadapt_task *own_state(void)
{
	struct kadapt_task *state;

	rcu_read_lock();
	hash_for_each_possible_rcu(tasks, state, entry, (unsigned long)current)
		if (state->task == current)
			break;
	rcu_read_unlock();
	return state;
}

static void counts_free(struct xarray *counts)
{
	struct kadapt_count *count;
	unsigned long phase;

	xa_for_each(counts, phase, count)
		kfree(count);
	xa_destroy(counts);
}

static void state_put(struct kadapt_task *state)
{
	if (!refcount_dec_and_test(&state->refs))
		return;
	counts_free(&state->counts);
	kadapt_client_put(state->client);
	put_task_struct(state->task);
	kfree_rcu(state, rcu);
}

static void end_phase(struct kadapt_task *state)
{
	struct kadapt_count stay;
	struct kadapt_phase *phase;

	if (state->phase == NO_PHASE)
		return;
	stay = kadapt_count_since(&state->start);
	phase = kadapt_client_phase(state->client, state->phase);
	kadapt_count_add(state->count, &stay);
	kadapt_total_add(&phase->total, &stay);
	state->phase = NO_PHASE;
}

static void leave(struct kadapt_task *state)
{
	end_phase(state);
	kadapt_quantum_restore(&state->quantum);
}

static void state_remove(struct kadapt_task *state)
{
	leave(state);
	spin_lock(&tasks_lock);
	hash_del_rcu(&state->entry);
	list_del(&state->of_client);
	spin_unlock(&tasks_lock);
	state_put(state);
}

/* Runs in the task itself, on its way to user mode or out of existence. */
static void undo_requested(struct callback_head *work)
{
	struct kadapt_task *requested =
		container_of(work, struct kadapt_task, work);
	struct kadapt_task *state = own_state();

	/* Barrier: a request made from here on queues its own work. */
	test_and_clear_bit(REQUEST_UNDO, &requested->requests);
	if (state && state == requested) {
		if (READ_ONCE(state->client->closed))
			state_remove(state);
		else
			leave(state);
	}
	state_put(requested);
	module_put(THIS_MODULE);
}

/* Called with tasks_lock held, so the task has not passed the exit probe. */
static void request_undo(struct kadapt_task *state)
{
	if (test_and_set_bit(REQUEST_UNDO, &state->requests))
		return;
	refcount_inc(&state->refs);
	__module_get(THIS_MODULE);
	if (!task_work_add(state->task, &state->work, TWA_RESUME))
		return;
	/* Kernel threads and the like; they enter no phases. */
	WARN_ON_ONCE(1);
	refcount_dec(&state->refs);
	module_put(THIS_MODULE);
}

static struct kadapt_task *state_create(struct kadapt_client *client)
{
	struct kadapt_task *state = kzalloc(sizeof(*state), GFP_KERNEL_ACCOUNT);

	if (!state)
		return NULL;
	refcount_set(&state->refs, 1);
	state->task = get_task_struct(current);
	state->client = kadapt_client_get(client);
	state->phase = NO_PHASE;
	xa_init(&state->counts);
	init_task_work(&state->work, undo_requested);

	spin_lock(&tasks_lock);
	hash_add_rcu(tasks, &state->entry, (unsigned long)current);
	list_add(&state->of_client, &client->tasks);
	spin_unlock(&tasks_lock);
	return state;
}

/* The current task's state for this client, made if need be. */
static struct kadapt_task *state_for(struct kadapt_client *client)
{
	struct kadapt_task *state = own_state();

	if (state && state->client != client) {
		/* A closed file's request may still be on its way to us. */
		if (!READ_ONCE(state->client->closed))
			return ERR_PTR(-EBUSY);
		state_remove(state);
		state = NULL;
	}
	if (!state)
		state = state_create(client);
	return state ?: ERR_PTR(-ENOMEM);
}

static struct kadapt_count *count_for(struct kadapt_task *state, u32 phase)
{
	struct kadapt_count *count = xa_load(&state->counts, phase);

	if (count)
		return count;
	count = kzalloc(sizeof(*count), GFP_KERNEL_ACCOUNT);
	if (!count)
		return NULL;
	if (xa_err(xa_store(&state->counts, phase, count, GFP_KERNEL))) {
		kfree(count);
		return NULL;
	}
	return count;
}

static int begin_phase(struct kadapt_task *state, u32 number,
		       const struct kadapt_phase *phase)
{
	struct kadapt_count *count = count_for(state, number);
	int error;

	if (!count)
		return -ENOMEM;
	error = kadapt_quantum_set(&state->quantum, phase->quantum_ns);
	if (error)
		return error;
	end_phase(state);
	state->phase = number;
	state->count = count;
	kadapt_start_now(&state->start);
	return 0;
}

int kadapt_task_enter(struct kadapt_client *client, unsigned long number)
{
	const struct kadapt_phase *phase = kadapt_client_phase(client, number);
	struct kadapt_task *state;

	if (!phase)
		return -ENOENT;
	state = state_for(client);
	if (IS_ERR(state))
		return PTR_ERR(state);
	if (state->phase == number)
		return 0;
	return begin_phase(state, number, phase);
}

int kadapt_task_leave(struct kadapt_client *client)
{
	struct kadapt_task *state = own_state();

	if (state && state->client == client)
		leave(state);
	return 0;
}

/* What the current task did in this phase, through this client. */
static struct kadapt_count own_count(struct kadapt_task *state, u32 phase)
{
	struct kadapt_count *count = xa_load(&state->counts, phase);

	return count ? *count : (struct kadapt_count){};
}

int kadapt_task_counters(struct kadapt_client *client,
			 struct kadapt_counters *counters)
{
	struct kadapt_phase *phase =
		kadapt_client_phase(client, counters->phase);
	struct kadapt_task *state = own_state();
	struct kadapt_count count = {};

	if (counters->flags & ~KADAPT_COUNTERS__ALL)
		return -EINVAL;
	if (!phase)
		return -ENOENT;
	if (state && state->client != client)
		state = NULL;
	if (counters->flags & KADAPT_COUNTERS_PROCESS)
		count = kadapt_total_read(&phase->total);
	else if (state)
		count = own_count(state, counters->phase);
	if (state && state->phase == counters->phase) {
		struct kadapt_count stay = kadapt_count_since(&state->start);

		kadapt_count_add(&count, &stay);
	}
	kadapt_count_report(&count, counters);
	return 0;
}

/* All of this client's tasks leave: the current one now, others soon. */
static void undo_all(struct kadapt_client *client)
{
	struct kadapt_task *state;

	spin_lock(&tasks_lock);
	list_for_each_entry(state, &client->tasks, of_client)
		if (state->task != current)
			request_undo(state);
	spin_unlock(&tasks_lock);
}

void kadapt_tasks_undo(struct kadapt_client *client)
{
	kadapt_task_leave(client);
	undo_all(client);
}

/* The file is gone; so goes every state that came through it. */
void kadapt_tasks_close(struct kadapt_client *client)
{
	struct kadapt_task *state = own_state();

	WRITE_ONCE(client->closed, true);
	if (state && state->client == client)
		state_remove(state);
	undo_all(client);
}

/* The current task is making @child, which does not run yet. */
void kadapt_task_forked(struct task_struct *child)
{
	struct kadapt_task *state = own_state();

	if (state)
		kadapt_quantum_disinherit(&state->quantum, child);
}

/* The current task is on its way out. */
void kadapt_task_exits(void)
{
	struct kadapt_task *state = own_state();

	if (state)
		state_remove(state);
}
