// SPDX-License-Identifier: GPL-2.0-or-later
/* Slices of phases, at any time and beside signal handlers. */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>

#include "cases.h"
#include "libkadapt.h"

static enum outcome test_phases(void)
{
	errno = EXDEV;
	kadapt_phase_enter(LONG);
	CHECK(errno == EXDEV);
	CHECK(seen_slice() == LONG_NS);
	errno = EXDEV;
	kadapt_phase_enter(PLAIN);
	CHECK(errno == EXDEV);
	CHECK(seen_slice() == default_ns);
	kadapt_phase_enter(SHORT);
	CHECK(seen_slice() == SHORT_NS);
	kadapt_phase_enter(SHORTEST);
	CHECK(seen_slice() == SHORTEST_NS);
	kadapt_phase_enter(ALSO_LONG);
	CHECK(seen_slice() == LONG_NS);
	kadapt_phase_enter(700);
	CHECK(seen_slice() == default_ns);
	return PASSED;
}

static enum outcome test_calls(void)
{
	errno = EXDEV;
	CHECK(kadapt_enter(LONG) == -ENODEV);
	CHECK(seen_slice() == LONG_NS);
	errno = EXDEV;
	CHECK(kadapt_leave() == -ENODEV);
	CHECK(errno == EXDEV);
	CHECK(seen_slice() == default_ns);
	return PASSED;
}

/* ---- handlers -------------------------------------------------------------------------- */

static uint32_t next_phase;
static sigjmp_buf away;

static void enter_next(int unused)
{
	(void)unused;
	kadapt_phase_enter(next_phase++ % 6);
}

static void enter_and_jump(int unused)
{
	enter_next(unused);
	siglongjmp(away, 1);
}

static void disturb_by(void (*handler)(int), int every_us)
{
	const struct itimerval often = {{0, every_us}, {0, every_us}};
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_NODEFER};

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
}

static enum outcome require_right_slices(void)
{
	/* Which phase the handlers left is not known. */
	kadapt_phase_enter(SHORT);
	for (int i = 0; i < 3; i++) {
		kadapt_phase_enter(LONG);
		CHECK(seen_slice() == LONG_NS);
		kadapt_phase_enter(PLAIN);
		CHECK(seen_slice() == default_ns);
	}
	return PASSED;
}

static enum outcome beside(void (*handler)(int))
{
	int64_t end = now() + NS_PER_S / 2;

	disturb_by(handler, 31);
	while (now() < end) {
		if (sigsetjmp(away, 1))
			continue;
		kadapt_phase_enter(LONG);
		kadapt_phase_enter(PLAIN);
		kadapt_phase_enter(SHORT);
	}
	while (sigsetjmp(away, 1))
		;
	disturb_by(SIG_IGN, 0);
	note("%u handlers", next_phase);
	CHECK(next_phase > 100);
	return require_right_slices();
}

static enum outcome test_handlers(void)
{
	return beside(enter_next);
}

static enum outcome test_jumps(void)
{
	return beside(enter_and_jump);
}

const struct test_case plain_cases[] = {
    {"phases", "a phase has its quantum as slice, within limits", test_phases},
    {"calls", "so do the calls that tell of the device", test_calls},
    {"handlers", "handlers that enter phases", test_handlers},
    {"jumps", "handlers that jump away", test_jumps},
    {0},
};
