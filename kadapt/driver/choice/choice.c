// SPDX-License-Identifier: GPL-2.0-only
/* Which units a task takes. */
#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/spinlock.h>

#include "choice/choice.h"
#include "choice/stack.h"

DEFINE_PER_CPU(u32, kadapt_unit_mask);
u32 kadapt_units_installed;
/* Phases that asked for each unit. */
static atomic_t holders[KADAPT_UNITS];

void kadapt_choice_hold(unsigned int number)
{
	atomic_inc(&holders[number]);
}

void kadapt_choice_release(u32 mask)
{
	unsigned int i;

	for (i = 0; i < KADAPT_UNITS; i++)
		if (mask & BIT(i))
			atomic_dec(&holders[i]);
}

bool kadapt_choice_is_held(unsigned int number)
{
	return atomic_read(&holders[number]);
}

/* Called by the task itself. */
void kadapt_choice_init(struct kadapt_choice *choice)
{
	raw_spin_lock_init(&choice->lock);
	choice->mask = 0;
	choice->running = true;
}

void kadapt_choice_renew(struct kadapt_choice *choice)
{
	kadapt_choice_set(choice, choice->mask);
}

/*
 * A task that was preempted in a stub may have found its bit there, and is then
 * on its way into a variant.
 */
static bool is_inside(struct task_struct *task, const struct kadapt_code *code)
{
	const struct kadapt_code stubs = {
		.begin = (unsigned long)kadapt_stubs,
		.end = (unsigned long)kadapt_stubs_end,
	};

	return kadapt_stack_has(task, code) || kadapt_stack_has(task, &stubs);
}

/*
 * A task that does not run, is in no stub and has none of the unit's functions on
 * its stack is between two calls of the group. There it may change to the
 * originals. The lock keeps the task from running meanwhile.
 */
enum kadapt_dropped kadapt_choice_drop(struct kadapt_choice *choice, u32 mask,
				       struct task_struct *task,
				       const struct kadapt_code *code)
{
	enum kadapt_dropped dropped = KADAPT_DROPPED;
	unsigned long flags;

	raw_spin_lock_irqsave(&choice->lock, flags);
	if (READ_ONCE(choice->mask) & mask) {
		if (choice->running || kadapt_stack_in_use(task))
			dropped = KADAPT_RUNNING;
		else if (is_inside(task, code))
			dropped = KADAPT_INSIDE;
		else
			choice->mask &= ~mask;
	}
	raw_spin_unlock_irqrestore(&choice->lock, flags);
	return dropped;
}

void kadapt_choice_switched_in(struct kadapt_choice *choice)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&choice->lock, flags);
	choice->running = true;
	raw_spin_unlock_irqrestore(&choice->lock, flags);
	this_cpu_write(kadapt_unit_mask, choice->mask);
}

/* The runqueue's lock is held, so there are no interrupts. */
void kadapt_choice_switched_out(struct kadapt_choice *choice)
{
	this_cpu_write(kadapt_unit_mask, 0);
	raw_spin_lock(&choice->lock);
	choice->running = false;
	raw_spin_unlock(&choice->lock);
}
