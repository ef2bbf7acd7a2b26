/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The small program of the paper's Table 1: Fibonacci numbers by plain recursion. */
#include "tasks.h"

#define ARGUMENT 25
#define RESULT 75025

static __attribute__((noinline)) unsigned int fibonacci(volatile unsigned int *argument)
{
	unsigned int n = *argument;
	volatile unsigned int one_less = n - 1, two_less = n - 2;

	return n < 2 ? n : fibonacci(&one_less) + fibonacci(&two_less);
}

int fibonacci_unit(void)
{
	volatile unsigned int n = ARGUMENT;

	return fibonacci(&n) == RESULT ? 0 : -1;
}
