// SPDX-License-Identifier: MIT
/*
 * A signal handler may be adapted code. If one enters a phase while its thread asks for a
 * slice, the order of the two calls is not known, and so the slice is UNKNOWN until the
 * next change reads it.
 *
 * System calls go through syscall(), because the C library has no function for these.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/optional.h"
#include "base/quantum.h"
#include "kadapt.h"
#include "libkadapt.h"
#include "slice/filtered.h"
#include "slice/slice.h"

/* As <linux/sched/types.h> has them, which can't be included with <sched.h>. */
struct attributes {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

#define KEEP_POLICY 0x8

/* The kernel's limits, for every user. */
#define SHORTEST_NS 100000
#define LONGEST_NS 100000000

/* By level and phase. */
static uint32_t slices[KADAPT_LEVEL_LESS + 1][KADAPT_SLICE_PHASES];

const uint32_t *_Atomic kadapt_slices = slices[KADAPT_LEVEL_PLAIN];
_Thread_local uint32_t kadapt_slice = KADAPT_SLICE_UNKNOWN;
_Atomic char kadapt_has_slices;

static _Thread_local uint64_t asked KADAPT_AT_HAND;

static uint64_t default_ns; /* as sched_getattr(2) reports it */

static int is_read(struct attributes *own)
{
	return syscall(SYS_sched_getattr, 0, own, sizeof(*own), 0) == 0;
}

/* The kernel keeps the policy, and all of `own` but the slice is as it was read. */
static int is_set(struct attributes *own, uint64_t ns)
{
	own->size = sizeof(*own);
	own->flags |= KEEP_POLICY;
	own->runtime = ns;
	return syscall(SYS_sched_setattr, 0, own, 0) == 0;
}

/* The kernel ignores the slice that a SCHED_IDLE thread asks for. */
static int has_slice(const struct attributes *own)
{
	return own->policy == SCHED_OTHER || own->policy == SCHED_BATCH;
}

static uint32_t slice_at(uint64_t planned_ns, unsigned int level)
{
	uint64_t ns = kadapt_quantum_at(planned_ns < LONGEST_NS ? planned_ns : LONGEST_NS, level);

	return ns && ns < SHORTEST_NS ? SHORTEST_NS : (uint32_t)ns;
}

static int is_planned(uint64_t ns)
{
	for (uint32_t i = 0; i < kadapt_plan.policies; i++) {
		uint64_t planned_ns = kadapt_plan.policy[i].quantum_ns;

		if (ns == slice_at(planned_ns, KADAPT_LEVEL_PLANNED) ||
		    ns == slice_at(planned_ns, KADAPT_LEVEL_LESS))
			return 1;
	}
	return 0;
}

/* A new thread inherits its creator's slice, which is the default or a planned one. */
static int is_ours(uint64_t ns, uint32_t before)
{
	if (before < KADAPT_SLICE_UNKNOWN)
		return ns == (before ? before : default_ns);
	return ns == default_ns || is_planned(ns);
}

/* The kernel or the administrator refuses: ask no more. EINVAL: the policy has changed. */
static uint32_t failed(void)
{
	if (errno != EINVAL)
		atomic_store(&kadapt_has_slices, 0);
	return KADAPT_SLICE_UNKNOWN;
}

/* Returns the thread's slice afterwards. */
static uint32_t ask(uint32_t before, uint32_t wanted)
{
	struct attributes own;

	if (!is_read(&own))
		return failed();
	if (!has_slice(&own))
		return before;
	if (!is_ours(own.runtime, before))
		return KADAPT_SLICE_LEFT;
	if (own.runtime == (wanted ? wanted : default_ns) || is_set(&own, wanted))
		return wanted;
	return failed();
}

/* Each change has a value of its own, so that it notices changes by handlers. */
static uint32_t new_unknown(void)
{
	static _Thread_local uint32_t number KADAPT_AT_HAND;

	return KADAPT_SLICE_UNKNOWN | ++number;
}

static void change(uint32_t wanted)
{
	uint32_t unknown = new_unknown();
	uint32_t before = __atomic_exchange_n(&kadapt_slice, unknown, __ATOMIC_SEQ_CST);
	uint32_t after = ask(before & ~KADAPT_SLICE_AGAIN, wanted);

	asked += wanted && after == wanted;
	if (!__atomic_compare_exchange_n(&kadapt_slice, &unknown, after, 0, __ATOMIC_SEQ_CST,
					 __ATOMIC_SEQ_CST))
		kadapt_slice = new_unknown();
}

void kadapt_slice_change(uint32_t wanted)
{
	int saved_errno = errno;

	if (kadapt_slice == KADAPT_SLICE_LEFT)
		return;
	if (!atomic_load_explicit(&kadapt_has_slices, memory_order_relaxed)) {
		kadapt_slice = wanted;
		return;
	}
	if (kadapt_calls_begin()) {
		change(wanted);
		kadapt_calls_end();
	}
	errno = saved_errno;
}

void kadapt_slices_set_level(unsigned int level)
{
	if (atomic_load_explicit(&kadapt_has_slices, memory_order_relaxed))
		atomic_store_explicit(&kadapt_slices, slices[level], memory_order_relaxed);
}

uint64_t kadapt_slices_asked(void)
{
	if (kadapt_slice < KADAPT_SLICE_LEFT)
		kadapt_slice |= KADAPT_SLICE_AGAIN;
	return asked;
}

/* A child inherits the slice, but not its parent's phase. */
static void begin_child(void)
{
	if (!kadapt_slice || kadapt_slice == KADAPT_SLICE_LEFT ||
	    kadapt_slice == KADAPT_SLICE_UNKNOWN)
		return;
	/* The parent may have asked the kernel to give its children the default. */
	kadapt_slice = KADAPT_SLICE_UNKNOWN;
	kadapt_slice_change(0);
}

/* ---- begin ------------------------------------------------------------------------ */

/* Returns the longest slice of the plan, or 0. */
static uint32_t find_slices(void)
{
	uint32_t longest = 0;

	for (uint32_t i = 0; i < kadapt_plan.policies; i++) {
		const struct kadapt_plan_policy *planned = &kadapt_plan.policy[i];
		uint32_t slice = slice_at(planned->quantum_ns, KADAPT_LEVEL_PLANNED);

		if (planned->phase >= KADAPT_SLICE_PHASES || !slice)
			continue;
		slices[KADAPT_LEVEL_PLANNED][planned->phase] = slice;
		slices[KADAPT_LEVEL_LESS][planned->phase] =
		    slice_at(planned->quantum_ns, KADAPT_LEVEL_LESS);
		longest = slice > longest ? slice : longest;
	}
	return longest;
}

/*
 * Whether the kernel honours slices: the main thread sets one and reads it back. Older
 * kernels report no slice. Then the thread takes the default, so that the default is known.
 * A thread that began with another slice gets it back, and the process asks for none.
 */
static int is_honoured(uint32_t wanted)
{
	struct attributes own;
	uint64_t began_with;
	int is_changed;

	if (!is_read(&own) || !has_slice(&own) || !own.runtime)
		return 0;
	began_with = own.runtime;
	if (!is_set(&own, wanted) || !is_read(&own))
		return 0;
	is_changed = own.runtime == wanted;
	if (!is_set(&own, 0) || !is_read(&own))
		return 0;
	default_ns = own.runtime;
	if (default_ns != began_with)
		is_set(&own, began_with);
	return is_changed && default_ns == began_with;
}

static int may_have_slices(void)
{
	return &kadapt_plan && kadapt_plan.abi == KADAPT_PLAN_ABI && &kadapt_is_guarded &&
	       !(kadapt_device_query()->features & KADAPT_FEATURE_QUANTUM);
}

static int has_slices(void)
{
	uint32_t longest = find_slices();

	return longest && !kadapt_is_under_filter() && is_honoured(longest) &&
	       pthread_atfork(NULL, NULL, begin_child) == 0;
}

/* Runs after the device was opened, and before trials ask what this process can do. */
__attribute__((constructor(102))) static void begin(void)
{
	int saved_errno = errno;

	if (may_have_slices() && has_slices()) {
		kadapt_slice = 0;
		atomic_store(&kadapt_has_slices, 1);
		kadapt_slices_set_level(KADAPT_LEVEL_PLANNED);
	}
	errno = saved_errno;
}
