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

enum { EVERY_US = 31, DEEPEST = 200 };

static uint32_t next_phase;
static volatile sig_atomic_t depth;
static sigjmp_buf away;

static void send_every(int every_us)
{
	const struct itimerval often = {{0, every_us}, {0, every_us}};

	setitimer(ITIMER_REAL, &often, NULL);
}

/*
 * Handlers that take longer than the timer's interval nest. The deepest one stops the timer
 * until all have returned: their frames would fill the stack.
 */
static void enter_deeper(void)
{
	if (++depth == DEEPEST)
		send_every(0);
	kadapt_phase_enter(next_phase++ % 6);
}

static void enter_next(int unused)
{
	(void)unused;
	enter_deeper();
	if (--depth == 0)
		send_every(EVERY_US);
}

static void enter_and_jump(int unused)
{
	(void)unused;
	enter_deeper();
	depth = 0;
	send_every(EVERY_US);
	siglongjmp(away, 1);
}

static void disturb_by(void (*handler)(int), int every_us)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_NODEFER};

	sigaction(SIGALRM, &action, NULL);
	send_every(every_us);
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

	disturb_by(handler, EVERY_US);
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
