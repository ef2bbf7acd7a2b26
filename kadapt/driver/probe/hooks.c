// SPDX-License-Identifier: GPL-2.0-only
/*
 * What happens to observed tasks: switches, forks and phases.
 *
 * The kernel's tracepoints call the hooks. Nobody calls tracepoints unless
 * somebody hooks in.
 */
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "phase/events.h"
#include "probe/session.h"
#include "probe/ticks.h"

/* From here to resume() nothing of the switch counts as the tasks' time. */
static notrace void suspend(struct kadapt_probe_state *state, u64 now,
			    bool preempted, unsigned int prev_state)
{
	state->left = now;
	if (preempted || !prev_state)
		state->why = KADAPT_PROBE_PREEMPTED;
	else if (state->task->in_iowait)
		state->why = KADAPT_PROBE_DISK;
	else if (prev_state & TASK_UNINTERRUPTIBLE)
		state->why = KADAPT_PROBE_BLOCKED;
	else
		state->why = KADAPT_PROBE_SLEPT;
}

static notrace void resume(struct kadapt_probe_state *state)
{
	u64 ticks;

	if (!state->left)
		return;
	ticks = kadapt_probe_ticks() - state->left;
	state->away += ticks;
	if (state->block->entered)
		state->block->away += ticks;
	kadapt_probe_frames_waited(state, ticks);
	kadapt_probe_event(state, KADAPT_PROBE_EVENT_WAIT + state->why,
			   state->left, state->left + ticks);
	/* The walk was no time of the task either. */
	state->away += kadapt_probe_ticks() - state->left - ticks;
}

static notrace void load(struct kadapt_probe_state *state)
{
	void *records = state ? state->records :
				kadapt_probe_sink(smp_processor_id());

	this_cpu_write(kadapt_probe_state, state);
	this_cpu_write(kadapt_probe_block, records);
}

static notrace void on_switch(void *data, bool preempted,
			      struct task_struct *previous,
			      struct task_struct *next, unsigned int prev_state)
{
	struct kadapt_probe_state *state = this_cpu_read(kadapt_probe_state);
	u64 now = kadapt_probe_ticks();

	if (state) {
		if (preempted)
			kadapt_probe_frames_restart();
		suspend(state, now, preempted, prev_state);
		if (prev_state & TASK_DEAD) {
			load(NULL);
			kadapt_probe_frames_end(state, now);
			kadapt_probe_task_end(state);
		}
	} else if (prev_state & TASK_DEAD) {
		kadapt_probe_task_forget(previous);
	}
	state = kadapt_probe_task_find(next);
	if (!state && !this_cpu_read(kadapt_probe_state))
		return;
	load(state);
	if (state)
		resume(state);
}

static notrace void on_fork(void *data, struct task_struct *parent,
			    struct task_struct *child)
{
	if (!this_cpu_read(kadapt_probe_state))
		return;
	if (kadapt_probe_task_add(child))
		kadapt_probe_pool()->tasks_lost++;
}

static notrace void on_phase(void *data, u32 phase)
{
	struct kadapt_probe_state *state = this_cpu_read(kadapt_probe_state);

	if (!state)
		return;
	kadapt_probe_block_leave(state);
	kadapt_probe_block_enter(state, current, phase);
	this_cpu_write(kadapt_probe_block, state->records);
}

/* ---- the kernel's tracepoints, which are not exported --------------------- */

struct hook {
	const char *name;
	void *function;
	struct tracepoint *point;
};

static struct hook hooks[] = {
	{ "sched_switch", on_switch },
	{ "sched_process_fork", on_fork },
};

static void note_point(struct tracepoint *point, void *data)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(hooks); i++)
		if (!strcmp(point->name, hooks[i].name))
			hooks[i].point = point;
}

static void unregister_first(size_t count)
{
	while (count--)
		tracepoint_probe_unregister(hooks[count].point,
					    hooks[count].function, NULL);
}

int kadapt_probe_hooks_register(void)
{
	int error = 0;
	size_t i;

	for_each_kernel_tracepoint(note_point, NULL);
	for (i = 0; i < ARRAY_SIZE(hooks) && !error; i++) {
		error = -ENODEV;
		if (hooks[i].point)
			error = tracepoint_probe_register(hooks[i].point,
							  hooks[i].function,
							  NULL);
		if (error)
			unregister_first(i);
	}
	if (error)
		return error;
	error = register_trace_kadapt_phase(on_phase, NULL);
	if (error)
		unregister_first(ARRAY_SIZE(hooks));
	return error;
}

static void unload(void *data)
{
	this_cpu_write(kadapt_probe_state, NULL);
}

void kadapt_probe_hooks_unregister(void)
{
	unregister_trace_kadapt_phase(on_phase, NULL);
	unregister_first(ARRAY_SIZE(hooks));
	tracepoint_synchronize_unregister();
	on_each_cpu(unload, NULL, true);
}
