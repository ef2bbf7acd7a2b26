// SPDX-License-Identifier: GPL-2.0-only
/*
 * Looks for code on stacks. The kernel's reliable unwinder is
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

static bool is_in_module(unsigned long address, const struct module *module)
{
#ifdef CONFIG_MODULES
	return within_module_mem_type(address, module, MOD_TEXT) ||
	       within_module_mem_type(address, module, MOD_INIT_TEXT);
#else
	return false;
#endif
}

/*
 * The return address of a call at the very end is the end. Of a task that was
 * preempted before its first instruction in the code, the begin is on the stack.
 */
static bool is_in(unsigned long address, const struct kadapt_code *code)
{
	if (code->module)
		return is_in_module(address, code->module);
	return address >= code->begin && address <= code->end;
}

static unsigned long stack_pointer(const struct task_struct *task)
{
#ifdef CONFIG_UML
	return task->thread.switch_buf->JB_SP;
#else
	/* The caller may only find later that the task ran meanwhile. */
	return READ_ONCE(task->thread.sp);
#endif
}

/* The memory of a stack stays for a grace period after its task has ended. */
bool kadapt_stack_has(struct task_struct *task, const struct kadapt_code *code)
{
	unsigned long *word, *end;
	bool has = false;

	rcu_read_lock();
	end = READ_ONCE(task->stack);
	if (end) {
		end += THREAD_SIZE / sizeof(*end);
		/* The words are other functions' variables, too. */
		for (word = (unsigned long *)stack_pointer(task); word < end && !has; word++)
			has = is_in(READ_ONCE_NOCHECK(*word), code);
	}
	rcu_read_unlock();
	return has;
}
