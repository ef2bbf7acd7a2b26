// SPDX-License-Identifier: GPL-2.0-only
/*
 * A task's state: which phase it is in, since when, what that changed.
 *
 * Lifetime. A state is made when its task first enters a phase. Only the task
 * itself touches what its state holds, without a lock, so its own state can't
 * go away under it. Three things end it:
 *
 * - the task closes the file: it removes its state;
 * - another task closes the file: it asks, by task work, which runs before the
 *   first is next in user mode;
 * - the task ends: nobody tells us, but a preemption notifier sees it being
 *   switched away from for good and marks the state, as the last to touch it.
 *   Whoever next walks the table reaps it. A file closed while its last threads
 *   are past their task work leaves that to the reaper.
 *
 * A state holds its client, its task, so that no other task can have the same
 * address, and the module, whose code the notifier runs. The lock guards the
 * table's chains and the clients' lists; looking up takes RCU only, because
 * chains hold other tasks' states, too.
 */
#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/hashtable.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/rculist.h>
#include <linux/refcount.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/task_work.h>
#include <linux/timekeeping.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "client.h"
#include "counters.h"
#include "paths.h"
#include "quantum.h"
#include "task.h"
#include "uapi/kadapt.h"

#define NO_PHASE U32_MAX
#define REAP_DELAY (HZ / 10 + 1)

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
	struct preempt_notifier notifier;
	u64 switched_out_ns;
	bool gone;			/* the task never runs again */
	bool dying;			/* it does, but never in user mode */
	unsigned long requests;
	struct callback_head work;
	struct rcu_head rcu;
};

static DEFINE_HASHTABLE(tasks, 8);
static DEFINE_SPINLOCK(tasks_lock);

static void reap_dying(struct work_struct *work);
static DECLARE_DELAYED_WORK(reaper, reap_dying);

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
	module_put(THIS_MODULE);
}

static void end_phase(struct kadapt_task *state, u64 now_ns)
{
	struct kadapt_count stay;
	struct kadapt_phase *phase;

	if (state->phase == NO_PHASE)
		return;
	stay = kadapt_count_since(&state->start, state->task, now_ns);
	phase = kadapt_client_phase(state->client, state->phase);
	kadapt_count_add(state->count, &stay);
	kadapt_total_add(&phase->total, &stay);
	state->phase = NO_PHASE;
}

static void leave(struct kadapt_task *state)
{
	end_phase(state, ktime_get_mono_fast_ns());
	kadapt_quantum_restore(&state->quantum);
}

static void state_unlink(struct kadapt_task *state)
{
	lockdep_assert_held(&tasks_lock);
	hash_del_rcu(&state->entry);
	list_del(&state->of_client);
}

/* By the task itself. */
static void state_remove(struct kadapt_task *state)
{
	leave(state);
	preempt_notifier_unregister(&state->notifier);
	spin_lock(&tasks_lock);
	state_unlink(state);
	spin_unlock(&tasks_lock);
	state_put(state);
}

/* Take the states of tasks that are gone out of the table; are any dying? */
static bool reap(void)
{
	struct kadapt_task *state, *other;
	struct hlist_node *next;
	bool any_dying = false;
	LIST_HEAD(dead);
	int bucket;

	spin_lock(&tasks_lock);
	hash_for_each_safe(tasks, bucket, next, state, entry) {
		/* Pairs with the release in switched_out(). */
		if (!smp_load_acquire(&state->gone)) {
			any_dying |= state->dying;
			continue;
		}
		state_unlink(state);
		list_add(&state->of_client, &dead);
	}
	spin_unlock(&tasks_lock);

	list_for_each_entry_safe(state, other, &dead, of_client) {
		end_phase(state, state->switched_out_ns);
		state_put(state);
	}
	return any_dying;
}

static void reap_dying(struct work_struct *work)
{
	if (reap())
		schedule_delayed_work(&reaper, REAP_DELAY);
}

static void switched_in(struct preempt_notifier *notifier, int cpu)
{
	struct kadapt_task *state =
		container_of(notifier, struct kadapt_task, notifier);

	kadapt_quantum_grant(&state->quantum);
}

/* Under the runqueue's lock: nothing here may wake anyone. */
static void switched_out(struct preempt_notifier *notifier,
			 struct task_struct *next)
{
	struct kadapt_task *state =
		container_of(notifier, struct kadapt_task, notifier);

	state->switched_out_ns = ktime_get_mono_fast_ns();
	if (READ_ONCE(current->__state) == TASK_DEAD) {
		/* The last access; pairs with the acquire in reap(). */
		smp_store_release(&state->gone, true);
	}
}

static struct preempt_ops notifier_ops = {
	.sched_in = switched_in,
	.sched_out = switched_out,
};

/* Runs in the task itself, on its way to user mode or out of existence. */
static void undo_requested(struct callback_head *work)
{
	struct kadapt_task *requested =
		container_of(work, struct kadapt_task, work);

	/* Barrier: a request made from here on queues its own work. */
	test_and_clear_bit(REQUEST_UNDO, &requested->requests);
	if (own_state() == requested) {
		if (READ_ONCE(requested->client->closed))
			state_remove(requested);
		else
			leave(requested);
	}
	state_put(requested);
}

/* Whether the task will undo it; not if it never is in user mode again. */
static bool request_undo(struct kadapt_task *state)
{
	if (test_and_set_bit(REQUEST_UNDO, &state->requests))
		return true;
	refcount_inc(&state->refs);
	if (!task_work_add(state->task, &state->work, TWA_RESUME))
		return true;
	refcount_dec(&state->refs);
	return false;
}

static struct kadapt_task *state_create(struct kadapt_client *client)
{
	struct kadapt_task *state = kzalloc(sizeof(*state), GFP_KERNEL_ACCOUNT);

	if (!state)
		return NULL;
	__module_get(THIS_MODULE);
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
	preempt_notifier_init(&state->notifier, &notifier_ops);
	preempt_notifier_register(&state->notifier);
	/* Threads that come and go leave at most as many states as live. */
	reap();
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
	u64 now_ns;
	int error;

	if (!count)
		return -ENOMEM;
	error = kadapt_quantum_set(&state->quantum, phase->quantum_ns);
	if (error)
		return error;
	now_ns = ktime_get_mono_fast_ns();
	end_phase(state, now_ns);
	state->phase = number;
	state->count = count;
	kadapt_start_at(&state->start, now_ns);
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
	kadapt_paths_phase_changes(client);
	return begin_phase(state, number, phase);
}

int kadapt_task_leave(struct kadapt_client *client)
{
	struct kadapt_task *state = own_state();

	if (state && state->client == client) {
		kadapt_paths_phase_changes(client);
		leave(state);
	}
	return 0;
}

/* The phase that the current task is in through this client, or NULL. */
const struct kadapt_phase *
kadapt_task_phase(const struct kadapt_client *client)
{
	const struct kadapt_task *state = own_state();

	if (!state || state->client != client || state->phase == NO_PHASE)
		return NULL;
	return kadapt_client_phase(client, state->phase);
}

/* Does the phase that the current task is in want its faults as they are? */
bool kadapt_task_memory_is_plain(void)
{
	const struct kadapt_task *state = own_state();

	if (!state || state->phase == NO_PHASE)
		return false;
	return kadapt_client_phase(state->client,
				   state->phase)->memory_is_plain;
}

/* So much became present for the current task, beyond what it asked for. */
void kadapt_task_populated(unsigned long bytes)
{
	struct kadapt_task *state = own_state();

	if (state)
		state->start.populated_bytes += bytes;
}

static struct kadapt_count own_count(struct kadapt_task *state, u32 phase)
{
	struct kadapt_count *count = xa_load(&state->counts, phase);

	return count ? *count : (struct kadapt_count){};
}

/* What the process, or else the current task, did in this phase up to now. */
static struct kadapt_count count_until_now(struct kadapt_task *state,
					   struct kadapt_phase *phase,
					   const struct kadapt_counters *asked)
{
	struct kadapt_count count = {}, stay;

	if (asked->flags & KADAPT_COUNTERS_PROCESS)
		count = kadapt_total_read(&phase->total);
	else if (state)
		count = own_count(state, asked->phase);
	if (state && state->phase == asked->phase) {
		stay = kadapt_count_since(&state->start, current,
					  ktime_get_mono_fast_ns());
		kadapt_count_add(&count, &stay);
	}
	return count;
}

int kadapt_task_counters(struct kadapt_client *client,
			 struct kadapt_counters *counters)
{
	struct kadapt_phase *phase =
		kadapt_client_phase(client, counters->phase);
	struct kadapt_task *state = own_state();
	struct kadapt_count count;

	if (counters->flags & ~KADAPT_COUNTERS__ALL)
		return -EINVAL;
	if (!phase)
		return -ENOENT;
	if (state && state->client != client)
		state = NULL;
	/* The last stays of threads that have ended count, too. */
	if (counters->flags & KADAPT_COUNTERS_PROCESS)
		reap();
	count = count_until_now(state, phase, counters);
	kadapt_count_report(&count, counters);
	return 0;
}

/* All of this client's tasks leave: the current one now, others soon. */
void kadapt_tasks_undo(struct kadapt_client *client)
{
	struct kadapt_task *state;

	kadapt_task_leave(client);
	spin_lock(&tasks_lock);
	list_for_each_entry(state, &client->tasks, of_client)
		if (state->task != current && !request_undo(state))
			state->dying = true;
	spin_unlock(&tasks_lock);
}

/* The file is gone; so goes every state that came through it. */
void kadapt_tasks_close(struct kadapt_client *client)
{
	struct kadapt_task *state = own_state();

	WRITE_ONCE(client->closed, true);
	if (state && state->client == client)
		state_remove(state);
	kadapt_tasks_undo(client);
	reap_dying(NULL);
}

void kadapt_tasks_init(void)
{
	preempt_notifier_inc();
}

/*
 * No file is open and no task has a state, or the module would be in use; but
 * the last one's task work or the reaper may just be returning from our code.
 */
void kadapt_tasks_exit(void)
{
	cancel_delayed_work_sync(&reaper);
	synchronize_rcu_tasks();
	preempt_notifier_dec();
}
