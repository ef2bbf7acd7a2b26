// SPDX-License-Identifier: GPL-2.0-only
/*
 * The states of tasks: their creation, lookup and end.
 *
 * Lifetime. A state is created when its task first enters a phase. Only the
 * task itself accesses the contents of its state, without a lock, so its own
 * state can't disappear while it does. Three events end a state:
 *
 * - The task closes the file, and removes its state.
 * - Another task closes the file, and requests the removal by task work, which
 *   runs before the state's task is next in user mode.
 * - The task ends. The preemption notifier sees the last switch away from the
 *   task and marks the state as gone. The next walk of the table frees it. If
 *   the file is closed after the last threads have passed their task work, the
 *   reaper walks the table.
 *
 * A state holds references to its client, to its task, so that no other task
 * can get the same address, and to the module, whose code the notifier runs.
 * The lock protects the table's chains and the clients' lists. Lookups take RCU
 * only, because a chain also holds other tasks' states.
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
#include <linux/sysfs.h>
#include <linux/task_work.h>
#include <linux/timekeeping.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "choice/choice.h"
#include "phase/client.h"
#include "phase/counters.h"
#include "phase/quantum.h"
#include "phase/state.h"
#include "uapi/kadapt.h"

#define REAP_DELAY (HZ / 10 + 1)

/* Bits of kadapt_task.requests. */
#define REQUEST_UNDO	0	/* leave the phase */
#define REQUEST_UNITS	1	/* drop units that are being removed */
#define REQUEST_QUEUED	2	/* the task work is under way */

static DEFINE_HASHTABLE(tasks, 8);
static DEFINE_SPINLOCK(tasks_lock);

static void reap_dying(struct work_struct *work);
static DECLARE_DELAYED_WORK(reaper, reap_dying);

/* The current task's state, or NULL. Only the task itself removes it. */
struct kadapt_task *kadapt_state_own(void)
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

void kadapt_state_end_phase(struct kadapt_task *state, u64 now_ns)
{
	struct kadapt_count stay;
	struct kadapt_phase *phase;

	if (state->phase == KADAPT_NO_PHASE)
		return;
	stay = kadapt_count_since(&state->start, state->task, now_ns);
	phase = kadapt_client_phase(state->client, state->phase);
	kadapt_count_add(state->count, &stay);
	kadapt_total_add(&phase->total, &stay);
	state->phase = KADAPT_NO_PHASE;
}

void kadapt_state_leave(struct kadapt_task *state)
{
	kadapt_state_end_phase(state, ktime_get_mono_fast_ns());
	kadapt_quantum_restore(&state->quantum);
	kadapt_choice_set(&state->choice, 0);
}

static void state_unlink(struct kadapt_task *state)
{
	lockdep_assert_held(&tasks_lock);
	hash_del_rcu(&state->entry);
	list_del(&state->of_client);
}

/* Called by the state's own task. */
static void state_remove(struct kadapt_task *state)
{
	kadapt_state_leave(state);
	preempt_notifier_unregister(&state->notifier);
	spin_lock(&tasks_lock);
	state_unlink(state);
	spin_unlock(&tasks_lock);
	state_put(state);
}

/* Free the states of tasks that are gone. Returns true if tasks are dying. */
bool kadapt_states_reap(void)
{
	struct kadapt_task *state, *other;
	struct hlist_node *next;
	bool any_dying = false;
	LIST_HEAD(dead);
	int bucket;

	spin_lock(&tasks_lock);
	hash_for_each_safe(tasks, bucket, next, state, entry) {
		/* Pairs with the release in switched_out(): gone first. */
		if (!smp_load_acquire(&state->gone)) {
			any_dying |= state->dying;
			continue;
		}
		state_unlink(state);
		list_add(&state->of_client, &dead);
	}
	spin_unlock(&tasks_lock);

	list_for_each_entry_safe(state, other, &dead, of_client) {
		kadapt_state_end_phase(state, state->switched_out_ns);
		state_put(state);
	}
	return any_dying;
}

static void reap_dying(struct work_struct *work)
{
	if (kadapt_states_reap())
		schedule_delayed_work(&reaper, REAP_DELAY);
}

static void switched_in(struct preempt_notifier *notifier, int cpu)
{
	struct kadapt_task *state =
		container_of(notifier, struct kadapt_task, notifier);

	kadapt_quantum_grant(&state->quantum);
	kadapt_choice_switched_in(&state->choice);
}

/* Called with the runqueue's lock held, so it must not wake any task. */
static void switched_out(struct preempt_notifier *notifier,
			 struct task_struct *next)
{
	struct kadapt_task *state =
		container_of(notifier, struct kadapt_task, notifier);

	kadapt_choice_switched_out(&state->choice);
	state->switched_out_ns = ktime_get_mono_fast_ns();
	if (READ_ONCE(current->__state) == TASK_DEAD) {
		/*
		 * Pairs with the acquire in kadapt_states_reap(): all accesses before gone.
		 */
		smp_store_release(&state->gone, true);
	}
}

static struct preempt_ops notifier_ops = {
	.sched_in = switched_in,
	.sched_out = switched_out,
};

static void undo(struct kadapt_task *state)
{
	if (READ_ONCE(state->client->closed))
		state_remove(state);
	else
		kadapt_state_leave(state);
}

/* Runs in the state's task when it returns to user mode or exits. */
static void requested(struct callback_head *work)
{
	struct kadapt_task *state =
		container_of(work, struct kadapt_task, work);
	bool is_own = kadapt_state_own() == state;

	/* Clear this bit first: a later request then queues its own work. */
	test_and_clear_bit(REQUEST_QUEUED, &state->requests);
	if (test_and_clear_bit(REQUEST_UNITS, &state->requests) && is_own)
		kadapt_choice_renew(&state->choice);
	if (test_and_clear_bit(REQUEST_UNDO, &state->requests) && is_own)
		undo(state);
	state_put(state);
}

/* Returns false if the task never runs in user mode again. */
static bool request(struct kadapt_task *state, int what)
{
	set_bit(what, &state->requests);
	/* Full barrier: the task finds the bit, or the work is queued anew. */
	if (test_and_set_bit(REQUEST_QUEUED, &state->requests))
		return true;
	refcount_inc(&state->refs);
	if (!task_work_add(state->task, &state->work, TWA_RESUME))
		return true;
	refcount_dec(&state->refs);
	clear_bit(REQUEST_QUEUED, &state->requests);
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
	state->phase = KADAPT_NO_PHASE;
	xa_init(&state->counts);
	init_task_work(&state->work, requested);
	kadapt_choice_init(&state->choice);

	spin_lock(&tasks_lock);
	hash_add_rcu(tasks, &state->entry, (unsigned long)current);
	list_add(&state->of_client, &client->tasks);
	spin_unlock(&tasks_lock);
	preempt_notifier_init(&state->notifier, &notifier_ops);
	preempt_notifier_register(&state->notifier);
	/* So dead threads never have more states than living ones. */
	kadapt_states_reap();
	return state;
}

/* The current task's state for this client; created if it has none. */
struct kadapt_task *kadapt_state_for(struct kadapt_client *client)
{
	struct kadapt_task *state = kadapt_state_own();

	if (state && state->client != client) {
		/* The request of a file that was just closed may be pending. */
		if (!READ_ONCE(state->client->closed))
			return ERR_PTR(-EBUSY);
		state_remove(state);
		state = NULL;
	}
	if (!state)
		state = state_create(client);
	return state ?: ERR_PTR(-ENOMEM);
}

/* All tasks of the client leave their phases: this one now, others soon. */
void kadapt_tasks_undo(struct kadapt_client *client)
{
	struct kadapt_task *state = kadapt_state_own();

	if (state && state->client == client)
		kadapt_state_leave(state);
	spin_lock(&tasks_lock);
	list_for_each_entry(state, &client->tasks, of_client)
		if (state->task != current && !request(state, REQUEST_UNDO))
			state->dying = true;
	spin_unlock(&tasks_lock);
}

static bool still_takes(struct kadapt_task *state, u32 mask,
			const struct kadapt_code *code)
{
	switch (kadapt_choice_drop(&state->choice, mask, state->task, code)) {
	case KADAPT_DROPPED:
		return false;
	case KADAPT_RUNNING:
		/* A dying task stops running, and then takes nothing. */
		request(state, REQUEST_UNITS);
		return true;
	default:
		return true;
	}
}

unsigned int kadapt_states_drop(u32 mask, const struct kadapt_code *code,
				struct kadapt_keeper *keeper)
{
	struct kadapt_task *state;
	unsigned int left = 0;
	int bucket;

	spin_lock(&tasks_lock);
	hash_for_each(tasks, bucket, state, entry) {
		if (!still_takes(state, mask, code))
			continue;
		left++;
		kadapt_keeper_note(keeper, state->task);
	}
	spin_unlock(&tasks_lock);
	return left;
}

int kadapt_states_list(u32 mask, char *page)
{
	struct kadapt_task *state;
	int bucket, length = 0;

	spin_lock(&tasks_lock);
	hash_for_each(tasks, bucket, state, entry)
		if (kadapt_choice_has(&state->choice, mask))
			length += sysfs_emit_at(page, length, "%d %s\n",
						state->task->pid,
						state->task->comm);
	spin_unlock(&tasks_lock);
	return length;
}

/* The file is gone: remove every state that was created through it. */
void kadapt_tasks_close(struct kadapt_client *client)
{
	struct kadapt_task *state = kadapt_state_own();

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
 * No file is open and no task has a state, because both hold the module. But
 * task work or the reaper may still be returning from the driver's code.
 */
void kadapt_tasks_exit(void)
{
	cancel_delayed_work_sync(&reaper);
	synchronize_rcu_tasks();
	preempt_notifier_dec();
}
