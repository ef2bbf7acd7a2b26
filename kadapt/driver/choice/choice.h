/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which units a task takes: a mask with a bit per installed unit.
 *
 * Dispatch (live/stubs.S) tests the mask of the processor, which is the mask of the
 * task that runs there. An interrupt handler sees the interrupted task's mask.
 * From the switch away from a task to the end of the switch to the next task,
 * the processor's mask is 0.
 */
#ifndef _KADAPT_CHOICE_H
#define _KADAPT_CHOICE_H

#include <linux/compiler.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/types.h>

/* live/stubs.S has as many stubs. */
#define KADAPT_UNITS 32

struct kadapt_code;
struct task_struct;

/* A task that keeps a unit from being removed. */
struct kadapt_keeper {
	pid_t pid;
	char name[TASK_COMM_LEN];
};

static inline void kadapt_keeper_note(struct kadapt_keeper *keeper,
				      const struct task_struct *task)
{
	keeper->pid = task->pid;
	strscpy(keeper->name, task->comm, sizeof(keeper->name));
}

/* What became of a unit in a task's choice. */
enum kadapt_dropped {
	KADAPT_DROPPED,		/* the task does not take the unit any more */
	KADAPT_RUNNING,		/* the task must drop the unit itself */
	KADAPT_INSIDE,		/* the task is in a function of the unit, or enters one */
};

#ifdef KADAPT_WITH_UNITS

DECLARE_PER_CPU(u32, kadapt_unit_mask);
/* The stubs of all units, one after the other. */
extern const char kadapt_stubs[], kadapt_stubs_end[];
/* The units that tasks may take. */
extern u32 kadapt_units_installed;

/*
 * A task's choice. The task itself writes the mask while it runs. The lock's
 * holder may write it while the task does not run. The lock is also taken under
 * that of a runqueue, which interrupt handlers take; so its holder turns
 * interrupts off.
 */
struct kadapt_choice {
	raw_spinlock_t lock;
	u32 mask;
	bool running;
};

void kadapt_choice_init(struct kadapt_choice *choice);
/*
 * The current task takes these units, if they are installed, and no other.
 * Inline, because every phase call calls this.
 *
 * Removal clears the unit's bit in the installed ones and then waits for all
 * sections without preemption. So no task sets the bit after that.
 */
static inline void kadapt_choice_set(struct kadapt_choice *choice, u32 mask)
{
	preempt_disable();
	mask &= READ_ONCE(kadapt_units_installed);
	WRITE_ONCE(choice->mask, mask);
	this_cpu_write(kadapt_unit_mask, mask);
	preempt_enable();
}

/* Whether a task takes a unit of the mask; a running task may change that. */
static inline bool kadapt_choice_has(const struct kadapt_choice *choice,
				     u32 mask)
{
	return READ_ONCE(choice->mask) & mask;
}

/* The current task drops units that are not installed any more. */
void kadapt_choice_renew(struct kadapt_choice *choice);
/* Make another task drop the units of the mask, which have this code. */
enum kadapt_dropped kadapt_choice_drop(struct kadapt_choice *choice, u32 mask,
				       struct task_struct *task,
				       const struct kadapt_code *code);

/* Called by the task's preemption notifier, with preemption disabled. */
void kadapt_choice_switched_in(struct kadapt_choice *choice);
void kadapt_choice_switched_out(struct kadapt_choice *choice);

/*
 * A phase that asked for a unit holds the unit's number, so that the number
 * stays the unit's.
 */
void kadapt_choice_hold(unsigned int number);
void kadapt_choice_release(u32 mask);
bool kadapt_choice_is_held(unsigned int number);

#else

struct kadapt_choice {
};

static inline void kadapt_choice_init(struct kadapt_choice *choice)
{
}

static inline void kadapt_choice_set(struct kadapt_choice *choice, u32 mask)
{
}

static inline bool kadapt_choice_has(const struct kadapt_choice *choice,
				     u32 mask)
{
	return false;
}

static inline void kadapt_choice_renew(struct kadapt_choice *choice)
{
}

static inline enum kadapt_dropped
kadapt_choice_drop(struct kadapt_choice *choice, u32 mask,
		   struct task_struct *task, const struct kadapt_code *code)
{
	return KADAPT_DROPPED;
}

static inline void kadapt_choice_switched_in(struct kadapt_choice *choice)
{
}

static inline void kadapt_choice_switched_out(struct kadapt_choice *choice)
{
}

static inline void kadapt_choice_release(u32 mask)
{
}

#endif

#endif /* _KADAPT_CHOICE_H */
