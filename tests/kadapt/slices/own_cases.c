// SPDX-License-Identifier: GPL-2.0-or-later
/* What is the program's or the administrator's own stays: slice, policy, nice, flags. */
#define _GNU_SOURCE
#include <sched.h>
#include <sys/resource.h>

#include "cases.h"
#include "libkadapt.h"

static enum outcome test_own_slice(void)
{
	CHECK(set_slice(20 * NS_PER_MS) == 0);
	kadapt_phase_enter(LONG);
	CHECK(seen_slice() == 20 * NS_PER_MS);
	kadapt_phase_enter(PLAIN);
	CHECK(seen_slice() == 20 * NS_PER_MS);
	return PASSED;
}

static enum outcome test_newer_slice(void)
{
	kadapt_phase_enter(LONG);
	CHECK(set_slice(30 * NS_PER_MS) == 0);
	kadapt_phase_enter(PLAIN);
	CHECK(seen_slice() == 30 * NS_PER_MS);
	CHECK(set_slice(0) == 0);
	/* Never again in this thread. */
	kadapt_phase_enter(LONG);
	CHECK(seen_slice() == default_ns);
	return PASSED;
}

/* A process that begins with a slice keeps it. */
static enum outcome test_slice_at_begin(void)
{
	CHECK(slice_after_exec() == LONG_NS);
	CHECK(set_slice(7 * NS_PER_MS) == 0);
	CHECK(slice_after_exec() == 7 * NS_PER_MS);
	return PASSED;
}

static enum outcome has(int policy, int nice_)
{
	CHECK(sched_getscheduler(0) == policy);
	CHECK(getpriority(PRIO_PROCESS, 0) == nice_);
	return PASSED;
}

static enum outcome keeps(int policy, int nice_)
{
	const struct sched_param none = {0};

	CHECK(sched_setscheduler(0, policy, &none) == 0);
	CHECK(setpriority(PRIO_PROCESS, 0, nice_) == 0);
	kadapt_phase_enter(LONG);
	CHECK(seen_slice() == LONG_NS);
	CHECK(has(policy, nice_) == PASSED);
	kadapt_phase_enter(PLAIN);
	CHECK(seen_slice() == default_ns);
	return has(policy, nice_);
}

static enum outcome test_policies(void)
{
	CHECK(keeps(SCHED_OTHER, 3) == PASSED);
	CHECK(keeps(SCHED_BATCH, 5) == PASSED);
	CHECK(keeps(SCHED_BATCH | SCHED_RESET_ON_FORK, 9) == PASSED);
	return PASSED;
}

/* The kernel takes no slice from such a thread. */
static enum outcome test_idle(void)
{
	const struct sched_param none = {0};

	CHECK(sched_setscheduler(0, SCHED_IDLE, &none) == 0);
	kadapt_phase_enter(LONG);
	CHECK(seen_slice() == default_ns);
	kadapt_phase_enter(PLAIN);
	CHECK(sched_setscheduler(0, SCHED_OTHER, &none) == 0);
	kadapt_phase_enter(LONG);
	CHECK(seen_slice() == LONG_NS);
	return PASSED;
}

/* Nice and policy that change within the phase. */
static enum outcome test_changes_within(void)
{
	const struct sched_param none = {0};

	kadapt_phase_enter(LONG);
	CHECK(setpriority(PRIO_PROCESS, 0, 4) == 0);
	CHECK(sched_setscheduler(0, SCHED_BATCH, &none) == 0);
	kadapt_phase_enter(PLAIN);
	CHECK(has(SCHED_BATCH, 4) == PASSED);
	CHECK(seen_slice() == default_ns);
	kadapt_phase_enter(LONG);
	CHECK(seen_slice() == LONG_NS);
	return has(SCHED_BATCH, 4);
}

static enum outcome test_real_time(void)
{
	const struct sched_param none = {0}, fifo = {.sched_priority = 1};
	struct sched_param found;

	if (sched_setscheduler(0, SCHED_FIFO, &fifo))
		return skip("not allowed to become SCHED_FIFO");
	kadapt_phase_enter(PLAIN);
	kadapt_phase_enter(LONG);
	CHECK(sched_getscheduler(0) == SCHED_FIFO);
	CHECK(sched_getparam(0, &found) == 0 && found.sched_priority == 1);
	CHECK(sched_setscheduler(0, SCHED_OTHER, &none) == 0);
	CHECK(seen_slice() == default_ns);
	kadapt_phase_enter(PLAIN);
	kadapt_phase_enter(LONG);
	CHECK(seen_slice() == LONG_NS);
	return PASSED;
}

static enum outcome test_real_time_within(void)
{
	const struct sched_param none = {0}, fifo = {.sched_priority = 1};

	kadapt_phase_enter(LONG);
	if (sched_setscheduler(0, SCHED_FIFO, &fifo))
		return skip("not allowed to become SCHED_FIFO");
	kadapt_phase_enter(PLAIN);
	CHECK(sched_getscheduler(0) == SCHED_FIFO);
	CHECK(sched_setscheduler(0, SCHED_OTHER, &none) == 0);
	kadapt_phase_enter(ALSO_PLAIN);
	CHECK(seen_slice() == default_ns);
	return PASSED;
}

const struct test_case own_cases[] = {
    {"own_slice", "a slice of the program's own stays", test_own_slice},
    {"newer_slice", "so does one that it sets within a phase", test_newer_slice},
    {"begin", "so does one with which the process began", test_slice_at_begin},
    {"policies", "policy, nice and flags stay", test_policies},
    {"idle", "a SCHED_IDLE thread is left alone", test_idle},
    {"changes_within", "policy and nice that change within a phase stay", test_changes_within},
    {"real_time", "a real-time thread is left alone", test_real_time},
    {"real_time_within", "real time within a phase leaves nothing behind", test_real_time_within},
    {0},
};
