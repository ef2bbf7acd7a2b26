// SPDX-License-Identifier: GPL-2.0-only
/*
 * The quantum: how long a task runs once the scheduler has picked it, beyond
 * the limit of sched_setattr(2).
 *
 * The driver grants the quantum each time the scheduler has switched to the
 * task: it moves the deadline of the current request away. Nothing outlives
 * that request, because no field of the entity makes later requests as long. So
 * a child inherits nothing, and a task that wakes competes like any other. To
 * end a quantum, the driver moves the deadline back; changing only the slice
 * would leave the task protected until the old deadline.
 *
 * Locking. Modules can't take the runqueue's lock. So a task changes only
 * itself, with interrupts off and its own pi_lock held:
 *
 * - Interrupts off exclude tick, wakeup and preemption on this processor. So
 *   the runqueue runs the task: its entity and all parents are "current" in
 *   their queues. They are not in the trees that are sorted by deadline and
 *   augmented by slice, and nothing has to be sorted again.
 * - pi_lock excludes, on all processors, sched_setattr(2), nice, priority
 *   inheritance and a move to another control group. So the policy and the
 *   parents can't change.
 * - Another processor that holds this runqueue's lock to wake a task here is
 *   not excluded. It may end the current request and set a new deadline from
 *   the old slice. Then the old slice is used once more, which is the worst
 *   outcome of the race. Interrupts off are also an RCU read-side section, so
 *   no parent is freed.
 */
#include <linux/errno.h>
#include <linux/jiffies.h>
#include <linux/kstrtox.h>
#include <linux/moduleparam.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/spinlock.h>

#include "base/compat.h"
#include "phase/quantum.h"

#define QUANTUM_HARD_MAX_NS (10ULL * NSEC_PER_SEC)

static unsigned long long quantum_max_ns =
	(unsigned long long)CONFIG_KADAPT_QUANTUM_MAX_MS * NSEC_PER_MSEC;

static int quantum_max_set(const char *text, const struct kernel_param *param)
{
	unsigned long long value;
	int error = kstrtoull(text, 0, &value);

	if (error)
		return error;
	if (value < KADAPT_ORDINARY_MIN_NS || value > QUANTUM_HARD_MAX_NS)
		return -ERANGE;
	WRITE_ONCE(quantum_max_ns, value);
	return 0;
}

static const struct kernel_param_ops quantum_max_ops = {
	.set = quantum_max_set,
	.get = param_get_ullong,
};

module_param_cb(quantum_max_ns, &quantum_max_ops, &quantum_max_ns, 0644);
MODULE_PARM_DESC(quantum_max_ns,
		 "longest quantum a program may ask for, 100000 to 10000000000");

bool kadapt_quantum_supported(void)
{
	return COMPAT_HAS_SLICE;
}

u64 kadapt_quantum_min_ns(void)
{
	return COMPAT_HAS_SLICE ? KADAPT_ORDINARY_MIN_NS : 0;
}

u64 kadapt_quantum_max_ns(void)
{
	return COMPAT_HAS_SLICE ? READ_ONCE(quantum_max_ns) : 0;
}

/* Whether a policy may have this quantum: 0 or an error. */
int kadapt_quantum_check(u64 quantum_ns)
{
	if (!quantum_ns)
		return 0;
	if (!COMPAT_HAS_SLICE)
		return -EOPNOTSUPP;
	if (quantum_ns < KADAPT_ORDINARY_MIN_NS ||
	    quantum_ns > READ_ONCE(quantum_max_ns))
		return -ERANGE;
	return 0;
}

/*
 * A parent's slice is the shortest slice in its queue, computed when a task is
 * enqueued or dequeued. Here the task's slice changes without either, so
 * shorten the parents' slices, too.
 */
static void pull_parents(struct sched_entity *se, u64 slice)
{
	for (se = compat_parent(se); se; se = compat_parent(se)) {
		if (compat_slice(se) > slice)
			compat_set_slice(se, slice, true);
		compat_pull_deadline(se, slice);
	}
}

static bool has_slice(const struct task_struct *task)
{
	return task->policy == SCHED_NORMAL || task->policy == SCHED_BATCH ||
	       task->policy == SCHED_IDLE;
}

/*
 * While a quantum is set, a custom slice is one that sched_setattr(2) set
 * since, and it stays. One value is an exception: a program that changes
 * another attribute passes the quantum, read by sched_getattr(2), back to
 * sched_setattr(2), which clamps it.
 */
static bool has_newer_slice(const struct kadapt_quantum *quantum,
			    const struct sched_entity *se)
{
	u64 clamped = clamp_t(u64, quantum->ns, KADAPT_ORDINARY_MIN_NS,
			      KADAPT_ORDINARY_MAX_NS);

	return compat_slice_is_custom(se) && compat_slice(se) != clamped;
}

static void set_slice(struct kadapt_quantum *quantum, struct sched_entity *se,
		      u64 slice)
{
	if (!quantum->ns || has_newer_slice(quantum, se)) {
		quantum->saved_ns = compat_slice(se);
		quantum->saved_custom = compat_slice_is_custom(se);
	}
	quantum->ns = slice;
	compat_set_slice(se, slice, false);
	/* Never extend the deadline: entering again must not gain time. */
	compat_pull_deadline(se, slice);
	pull_parents(se, slice);
}

/* Set the current task's quantum; 0 means none. */
int kadapt_quantum_set(struct kadapt_quantum *quantum, u64 ns)
{
	unsigned long flags;
	int error = 0;

	if (!ns) {
		kadapt_quantum_restore(quantum);
		return 0;
	}
	ns = min_t(u64, ns, READ_ONCE(quantum_max_ns));
	raw_spin_lock_irqsave(&current->pi_lock, flags);
	if (has_slice(current))
		set_slice(quantum, &current->se, ns);
	else
		error = -EOPNOTSUPP;
	raw_spin_unlock_irqrestore(&current->pi_lock, flags);
	return error;
}

/*
 * When somebody has waited too long, the scheduler may first switch to and fro.
 * A quantum that began anew with each switch would make the waiting longer.
 */
#define TICKS_WITHOUT	2

static unsigned long ended_at;		/* in jiffies */

static bool may_begin(void)
{
	return time_after_eq(jiffies, READ_ONCE(ended_at) + TICKS_WITHOUT);
}

/* Called when the scheduler has switched to the current task. */
void kadapt_quantum_grant(const struct kadapt_quantum *quantum)
{
	unsigned long flags;

	if (!quantum->ns || !may_begin())
		return;
	raw_spin_lock_irqsave(&current->pi_lock, flags);
	if (has_slice(current) && !compat_slice_is_custom(&current->se))
		compat_grant(&current->se, quantum->ns);
	raw_spin_unlock_irqrestore(&current->pi_lock, flags);
}

/*
 * A task that the scheduler owes nothing, when it wakes, does not preempt. Nor
 * does the scheduler look at it again before the request of the running task
 * ends. So who must not wait for a quantum ends the request.
 */
static void end_current(void *unused)
{
	struct sched_entity *se = &current->se;

	raw_spin_lock(&current->pi_lock);
	if (has_slice(current) && !compat_slice_is_custom(se))
		for (; se; se = compat_parent(se))
			compat_pull_deadline(se, KADAPT_ORDINARY_MIN_NS);
	raw_spin_unlock(&current->pi_lock);
}

static DEFINE_PER_CPU(call_single_data_t, ending);

/*
 * Not by an initialiser: before 6.15, the kernel does not relocate a module's
 * per-CPU data (kernel/module/main.c, apply_relocations), so pointers stay NULL.
 */
void kadapt_quanta_init(void)
{
	int processor;

	for_each_possible_cpu(processor)
		INIT_CSD(&per_cpu(ending, processor), end_current, NULL);
}

/*
 * Once a tick is enough, however many rings are late. A processor that has not
 * ended the last quantum yet is left out.
 */
void kadapt_quanta_end(void)
{
	int processor;

	if (time_before_eq(jiffies, READ_ONCE(ended_at)))
		return;
	WRITE_ONCE(ended_at, jiffies);
	for_each_online_cpu(processor)
		smp_call_function_single_async(processor,
					       &per_cpu(ending, processor));
}

static void do_nothing(void *unused)
{
}

/* A processor answers calls in their order. */
void kadapt_quanta_exit(void)
{
	on_each_cpu(do_nothing, NULL, true);
}

/* Give the current task the slice that it would have without its phase. */
void kadapt_quantum_restore(struct kadapt_quantum *quantum)
{
	struct sched_entity *se = &current->se;
	unsigned long flags;

	if (!quantum->ns)
		return;
	raw_spin_lock_irqsave(&current->pi_lock, flags);
	if (!has_newer_slice(quantum, se))
		compat_set_slice(se, quantum->saved_ns, quantum->saved_custom);
	compat_pull_deadline(se, compat_slice(se));
	pull_parents(se, compat_slice(se));
	raw_spin_unlock_irqrestore(&current->pi_lock, flags);
	quantum->ns = 0;
}
