// SPDX-License-Identifier: GPL-2.0-only
/*
 * Looks for a module's functions on stacks. The kernel's reliable unwinder is
 * not exported, and a kernel may be built without it, so every word counts.
 */
#include <linux/compiler.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "choice/stack.h"

bool kadapt_stack_in_use(const struct task_struct *task)
{
#ifdef CONFIG_SMP
	/* Pairs with the release in finish_task(): the registers are saved. */
	return smp_load_acquire(&task->on_cpu);
#else
	return task == current;
#endif
}

static bool is_code(unsigned long address, const struct module *module)
{
	return within_module_mem_type(address, module, MOD_TEXT) ||
	       within_module_mem_type(address, module, MOD_INIT_TEXT);
}

/* The memory of a stack stays for a grace period after its task has ended. */
bool kadapt_stack_has(struct task_struct *task, const struct module *module)
{
	unsigned long *word, *end;
	bool has = false;

	rcu_read_lock();
	end = READ_ONCE(task->stack);
	if (end) {
		end += THREAD_SIZE / sizeof(*end);
		/* The words are other functions' variables, too. */
		for (word = (unsigned long *)task->thread.sp; word < end && !has; word++)
			has = is_code(READ_ONCE_NOCHECK(*word), module);
	}
	rcu_read_unlock();
	return has;
}
