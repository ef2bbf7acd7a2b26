// SPDX-License-Identifier: GPL-2.0-or-later
/* Executes 100,000,000 instructions, and the few that start and end a program. */
#include <stdio.h>

int main(void)
{
	long turns = 50000000;

	asm volatile("1: dec %0\n\tjnz 1b" : "+r"(turns) : : "cc");
	puts("done");
	return 7;
}
