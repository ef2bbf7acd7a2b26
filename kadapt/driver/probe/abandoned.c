// SPDX-License-Identifier: GPL-2.0-only
/*
 * Timed calls that outlive their session.
 *
 * A task may sleep in a timed call for hours. When its session ends, the call is
 * abandoned: its return address on the stack of the sleeping task becomes that of
 * a stub that needs nothing of the session, and only counts the call. So the next
 * session need not wait. The module stays until all abandoned calls have returned
 * or their tasks have ended.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/stop_machine.h>
#include <linux/workqueue.h>

#include "base/stubs.h"
#include "probe/session.h"

#define LOOK_PAUSE	(HZ / 10 + 1)

/* A task's calls of one session. */
struct abandoned {
	struct list_head entry;
	struct task_struct *task;
	u64 calls;		/* that have not returned; the stub counts down */
};

/* Protects the list. */
static DEFINE_MUTEX(abandoned_lock);
static LIST_HEAD(abandoned_calls);

static void look(struct work_struct *work);
static DECLARE_DELAYED_WORK(looking, look);

/* ---- the begin ------------------------------------------------------------ */

struct attempt {
	struct list_head fresh;	/* has no task yet */
	struct list_head taken;
};

static void free_all(struct list_head *list)
{
	struct abandoned *each, *next;

	list_for_each_entry_safe(each, next, list, entry)
		kfree(each);
}

static int allocate(struct list_head *list, unsigned int count)
{
	while (count--) {
		struct abandoned *each = kzalloc(sizeof(*each), GFP_KERNEL);

		if (!each)
			return -ENOMEM;
		list_add(&each->entry, list);
	}
	return 0;
}

/* A task that is preempted may be in a stub. It will run soon. */
static bool sleeps(const struct kadapt_probe_state *state)
{
	return state->left && state->why != KADAPT_PROBE_PREEMPTED;
}

static void abandon(struct kadapt_probe_state *state, void *data)
{
	struct attempt *attempt = data;
	struct abandoned *each = list_first_entry_or_null(&attempt->fresh,
							  struct abandoned,
							  entry);

	if (!each || !sleeps(state) ||
	    !kadapt_probe_frames_abandon(state, &each->calls))
		return;
	each->task = get_task_struct(state->task);
	list_move(&each->entry, &attempt->taken);
}

/* All processors wait here, so no task wakes up. */
static int abandon_all(void *data)
{
	kadapt_probe_visit_inside(abandon, data);
	return 0;
}

static void keep(struct list_head *taken)
{
	struct task_struct *first = list_first_entry(taken, struct abandoned,
						     entry)->task;
	struct abandoned *each;

	pr_info("%s (%d) is still in a function that was observed; tasks like it: %zu\n",
		first->comm, task_pid_nr(first), list_count_nodes(taken));
	list_for_each_entry(each, taken, entry)
		__module_get(THIS_MODULE);
	guard(mutex)(&abandoned_lock);
	list_splice(taken, &abandoned_calls);
	schedule_delayed_work(&looking, LOOK_PAUSE);
}

bool kadapt_probe_abandon(void)
{
	unsigned int count = kadapt_probe_tasks_inside();
	struct attempt attempt = {
		.fresh = LIST_HEAD_INIT(attempt.fresh),
		.taken = LIST_HEAD_INIT(attempt.taken),
	};

	if (!count)
		return true;
	if (!allocate(&attempt.fresh, count))
		stop_machine(abandon_all, &attempt, NULL);
	free_all(&attempt.fresh);
	if (!list_empty(&attempt.taken))
		keep(&attempt.taken);
	return !kadapt_probe_tasks_inside();
}

/* ---- the end -------------------------------------------------------------- */

/* A dead task's last switch may still be under way. */
static bool has_ended(const struct abandoned *each)
{
	return !READ_ONCE(each->calls) ||
	       READ_ONCE(each->task->__state) == TASK_DEAD;
}

static void take_ended(struct list_head *ended)
{
	struct abandoned *each, *next;

	list_for_each_entry_safe(each, next, &abandoned_calls, entry)
		if (has_ended(each))
			list_move(&each->entry, ended);
}

static void look(struct work_struct *work)
{
	struct abandoned *each;
	LIST_HEAD(ended);

	guard(mutex)(&abandoned_lock);
	take_ended(&ended);
	if (!list_empty(&ended))
		kadapt_wait_for_stubs();
	if (!list_empty(&abandoned_calls))
		schedule_delayed_work(&looking, LOOK_PAUSE);
	list_for_each_entry(each, &ended, entry) {
		put_task_struct(each->task);
		module_put(THIS_MODULE);
	}
	free_all(&ended);
}

void kadapt_probe_abandoned_exit(void)
{
	cancel_delayed_work_sync(&looking);
}
