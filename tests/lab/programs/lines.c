// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Section 2 fetches from nine lines in turn, ROUNDS times, which are a page apart. So they have one
 * set of a cache whose ways are pages. The code that calls them has other sets.
 */
#include "mark.h"

#ifndef ROUNDS
#define ROUNDS 1000
#endif
#define STEP __attribute__((aligned(4096), noinline)) void
#define NOTHING __asm__ volatile("")

STEP step_0(void)
{
	NOTHING;
}

STEP step_1(void)
{
	NOTHING;
}

STEP step_2(void)
{
	NOTHING;
}

STEP step_3(void)
{
	NOTHING;
}

STEP step_4(void)
{
	NOTHING;
}

STEP step_5(void)
{
	NOTHING;
}

STEP step_6(void)
{
	NOTHING;
}

STEP step_7(void)
{
	NOTHING;
}

STEP step_8(void)
{
	NOTHING;
}

__attribute__((aligned(4096), noinline)) static void take_turns(void)
{
	__asm__ volatile(".skip 1024, 0x90");
	for (int round = 0; round < ROUNDS; round++) {
		step_0();
		step_1();
		step_2();
		step_3();
		step_4();
		step_5();
		step_6();
		step_7();
		step_8();
	}
}

int main(void)
{
	KADENCE_MARK("2");
	take_turns();
	KADENCE_MARK("0");
	return 0;
}
