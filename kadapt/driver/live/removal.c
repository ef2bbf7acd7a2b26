// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waits until no task is inside a unit. Nobody enters it any more, so a task that
 * was seen outside once stays outside. A task that runs can't be seen, so the
 * search goes on each processor in turn: what runs there otherwise then waits.
 */
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/errno.h>
#include <linux/jiffies.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "choice/choice.h"
#include "choice/stack.h"
#include "live/removal.h"

struct search {
	const struct kadapt_code *code;
	struct xarray outside;		/* tasks seen outside */
	unsigned int left;		/* tasks not yet seen outside */
	struct kadapt_keeper keeper;	/* one of them */
};

/* The address is the index. A new task at the address begins outside. */
static unsigned long index_of(const struct task_struct *task)
{
	return (unsigned long)task / sizeof(long);
}

static unsigned long switches_of(const struct task_struct *task)
{
	return READ_ONCE(task->nvcsw) + READ_ONCE(task->nivcsw);
}

static bool is_outside(struct task_struct *task, const struct kadapt_code *code)
{
	unsigned long switches = switches_of(task);

	if (task == current)
		return true;
	if (kadapt_stack_in_use(task) || kadapt_stack_has(task, code))
		return false;
	/* Pairs with the switch: had the task run, the count would differ. */
	smp_rmb();
	return !kadapt_stack_in_use(task) && switches == switches_of(task);
}

static void look_at(struct search *search, struct task_struct *task)
{
	if (xa_load(&search->outside, index_of(task)))
		return;
	if (is_outside(task, search->code) &&
	    !xa_err(xa_store(&search->outside, index_of(task),
			     xa_mk_value(1), GFP_ATOMIC)))
		return;
	search->left++;
	kadapt_keeper_note(&search->keeper, task);
}

static long look_from_here(void *data)
{
	struct search *search = data;
	struct task_struct *process, *task;

	search->left = 0;
	rcu_read_lock();
	for_each_process_thread(process, task)
		look_at(search, task);
	rcu_read_unlock();
	return search->left;
}

static bool look_everywhere(struct search *search)
{
	unsigned int cpu;

	cpus_read_lock();
	for_each_online_cpu(cpu)
		if (!work_on_cpu(cpu, look_from_here, search))
			break;
	cpus_read_unlock();
	return !search->left;
}

int kadapt_removal_wait(const struct kadapt_code *code,
			struct kadapt_keeper *keeper)
{
	struct search search = { .code = code };
	unsigned long last = jiffies + KADAPT_REMOVAL_LONGEST;

	xa_init(&search.outside);
	while (!look_everywhere(&search) && time_before(jiffies, last))
		usleep_range(KADAPT_REMOVAL_PAUSE_US,
			     2 * KADAPT_REMOVAL_PAUSE_US);
	xa_destroy(&search.outside);
	*keeper = search.keeper;
	return search.left ? -EBUSY : 0;
}
