/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A session: the functions that an open file has instrumented, the memory for
 * their records, and the tasks that are observed.
 */
#ifndef _KADAPT_PROBE_SESSION_H
#define _KADAPT_PROBE_SESSION_H

#include <linux/atomic.h>
#include <linux/llist.h>
#include <linux/percpu.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/types.h>

#include "probe/layout.h"
#include "uapi/kadapt_probe.h"

/* A timed call in progress; on the kernel's stack, see stubs.S. */
struct kadapt_probe_frame {
	u64 begin;		/* by the task's time */
	struct kadapt_probe_frame *parent;
	u64 record;		/* offset in a block's records */
};

/*
 * A task that is observed. The processor on which it runs writes; so does the
 * processor that switches to it, before it runs.
 */
struct kadapt_probe_state {
	u64 away;		/* ticks that are no time of the task */
	struct kadapt_probe_frame *top;
	u64 number;		/* the task's */
	struct kadapt_probe_frame base;	/* what `top` is outside of all calls */
	struct task_struct *task;
	struct kadapt_probe_block *block;
	void *records;		/* the block's */
	u64 left;		/* the counter at the switch away, or 0 */
	enum kadapt_probe_wait why;
	struct hlist_node entry;	/* by task */
	struct llist_node ended;
};

/* The current task's, or NULL if it is not observed. */
DECLARE_PER_CPU(struct kadapt_probe_state *, kadapt_probe_state);
/* Where calls of the current task are recorded; never NULL if armed. */
DECLARE_PER_CPU(void *, kadapt_probe_block);

/* ---- pool.c: the memory for records --------------------------------------- */

int kadapt_probe_pool_create(const struct kadapt_probe_arm *arm);
void kadapt_probe_pool_destroy(void);
struct kadapt_probe_pool *kadapt_probe_pool(void);
size_t kadapt_probe_pool_bytes(void);
/* Where calls of tasks are recorded that are not observed, by processor. */
void *kadapt_probe_sink(int processor);
size_t kadapt_probe_records_bytes(void);
/* The block of the state's task and this phase becomes the state's. */
void kadapt_probe_block_enter(struct kadapt_probe_state *state,
			      struct task_struct *task, u32 phase);
/* The block's task leaves its phase. */
void kadapt_probe_block_leave(struct kadapt_probe_state *state);

/* ---- events.c: rings of what has ended, by processor ---------------------- */

/* Each processor has a ring of so many bytes in this memory; 0: there are none. */
void kadapt_probe_events_begin(void *rings, size_t bytes);
bool kadapt_probe_events_wanted(void);
/* Preemption is off. */
void kadapt_probe_event(const struct kadapt_probe_state *state, u32 what,
			u64 begin, u64 end);
/* The same, without asking whether there are rings. */
void kadapt_probe_event_write(const struct kadapt_probe_state *state, u32 what,
			      u64 begin, u64 end);
/* The current processor's calibration writes here. */
void kadapt_probe_events_calibrate(bool begins);

/* ---- tasks.c: the states of tasks ----------------------------------------- */

int kadapt_probe_tasks_create(void);
/* No hook is called any more. */
void kadapt_probe_tasks_destroy(void);
/* Observe a task. Returns 0, -EEXIST, -ENOSPC, or -ESRCH if it has ended. */
int kadapt_probe_task_add(struct task_struct *task);
struct kadapt_probe_state *kadapt_probe_task_find(const struct task_struct *task);
/* The task ends, and runs no more. */
void kadapt_probe_task_end(struct kadapt_probe_state *state);
/* Ends a task that was added on another processor and has not run since. */
void kadapt_probe_task_forget(const struct task_struct *task);
/* How many tasks are in timed calls. */
unsigned int kadapt_probe_tasks_inside(void);
/* Calls `visit` for each task that is in a timed call. */
typedef void kadapt_probe_visit(struct kadapt_probe_state *state, void *data);
void kadapt_probe_visit_inside(kadapt_probe_visit *visit, void *data);

/* ---- abandoned.c: timed calls that outlive their session ------------------ */

/*
 * Abandons the timed calls of all tasks that sleep. Places have been restored.
 * Returns whether no task is in a timed call any more.
 */
bool kadapt_probe_abandon(void);
/* There are no abandoned calls any more, but their work may not have returned. */
void kadapt_probe_abandoned_exit(void);

/* ---- frames.c: timed calls in progress ------------------------------------ */

/* The task waited during all of its calls. */
void kadapt_probe_frames_waited(struct kadapt_probe_state *state, u64 ticks);
/* The task ends within all of its calls. */
void kadapt_probe_frames_end(struct kadapt_probe_state *state, u64 now);
/*
 * The task sleeps, and nothing else runs. From now on its calls return without
 * the session, and count `calls` down, which gets their number. Returns false
 * and changes nothing if that is not possible.
 */
bool kadapt_probe_frames_abandon(struct kadapt_probe_state *state, u64 *calls);
/* The current task is preempted: see stubs.S. */
void kadapt_probe_frames_restart(void);

/* ---- hooks.c: switches, forks and phases ---------------------------------- */

int kadapt_probe_hooks_register(void);
/* Waits until no hook runs. */
void kadapt_probe_hooks_unregister(void);

/* ---- places.c: the functions' first instructions -------------------------- */

int kadapt_probe_places_call(const struct kadapt_probe_function *functions,
			     unsigned int count);
/* The kind of the stub of a function of this kind. */
u32 kadapt_probe_places_kind(u32 kind);
/* Tasks may still be in timed calls when this returns, but not in stubs. */
void kadapt_probe_places_restore(void);
bool kadapt_probe_places_shared(unsigned int count);

/* ---- points.c: tracepoints of the kernel ---------------------------------- */

/* Of these functions, those that are tracepoints. Returns 0, -ENOENT or -ENOMEM. */
int kadapt_probe_points_hook(const struct kadapt_probe_function *functions,
			     unsigned int count);
/* Waits until no tracepoint calls. */
void kadapt_probe_points_unhook(void);
/* What tracepoints call for a record at this offset. */
void kadapt_probe_point_count(void *offset);
void kadapt_probe_point_write(void *offset);

/* ---- calibration.c: what stubs cost --------------------------------------- */

extern u64 kadapt_probe_inner;
/* By kind: of functions with a stub of their own, and of others. */
extern u64 kadapt_probe_costs[KINDS];
extern u64 kadapt_probe_shared_costs[KINDS];
int kadapt_probe_calibrate(void);

#endif /* _KADAPT_PROBE_SESSION_H */
