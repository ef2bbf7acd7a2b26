// SPDX-License-Identifier: GPL-2.0-only
/*
 * Takes all tasks out of the copies, those that sleep there, too. While all
 * processors stand still, each word on a stack that is an address of a copy
 * becomes the address of the original: a return address, or where an interrupt
 * came. Nothing else holds such addresses, because the copies themselves name
 * originals only.
 */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/memory.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/rethook.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/stop_machine.h>
#include <asm/sections.h>

#include "code.h"

/* The last run that does not begin behind this place in the copies. */
static const struct kadence_run *run_at(u32 copy)
{
	const struct kadence_run *low = kadence_runs, *high = kadence_runs_end;

	while (high - low > 1) {
		const struct kadence_run *middle = low + (high - low) / 2;

		if (middle->copy <= copy)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* A call at the very end of the copies returns to their end. */
static bool is_copy(unsigned long address)
{
	return address >= (unsigned long)kadence_code &&
	       address <= (unsigned long)kadence_code_end;
}

static unsigned long original_of(unsigned long address)
{
	u32 copy = address - (unsigned long)kadence_code;
	const struct kadence_run *run = run_at(copy);

	return (unsigned long)_stext + run->original + (copy - run->copy);
}

/* The words are other functions' variables, too. */
static void leave_words(unsigned long *word, size_t count)
{
	unsigned long *end = word + count;

	for (; word < end; word++) {
		unsigned long address = READ_ONCE_NOCHECK(*word);

		if (is_copy(address))
			WRITE_ONCE(*word, original_of(address));
	}
}

/* The tracer of graphs keeps return addresses in a stack of its own. */
static void leave_traced(struct task_struct *task)
{
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	if (task->ret_stack)
		leave_words(task->ret_stack, task->curr_ret_stack);
#endif
}

/* So do probes of returns. */
static void leave_probed(struct task_struct *task)
{
#ifdef CONFIG_RETHOOK
	struct rethook_node *node;

	llist_for_each_entry(node, task->rethooks.first, llist)
		if (is_copy(node->ret_addr))
			node->ret_addr = original_of(node->ret_addr);
#endif
}

static void leave_task(struct task_struct *task)
{
	/* A task that has ended may have given its stack back. */
	if (task->stack)
		leave_words(task->stack, THREAD_SIZE / sizeof(long));
	leave_traced(task);
	leave_probed(task);
}

static int leave_all(void *nothing)
{
	struct task_struct *process, *task;
	int cpu;

	for_each_process_thread(process, task)
		leave_task(task);
	for_each_possible_cpu(cpu)
		if (idle_task(cpu))
			leave_task(idle_task(cpu));
	return 0;
}

void kadence_leave(void)
{
	/* While an instruction is patched, its address is on the patcher's stack. */
	cpus_read_lock();
	mutex_lock(&text_mutex);
	stop_machine_cpuslocked(leave_all, NULL, NULL);
	mutex_unlock(&text_mutex);
	cpus_read_unlock();
	/* Tasks that end are in no list any more; this waits until they have ended. */
	synchronize_rcu_tasks();
	/* All processors switch tasks, so that they have left interrupts that can't be masked. */
	synchronize_rcu_tasks_rude();
}
