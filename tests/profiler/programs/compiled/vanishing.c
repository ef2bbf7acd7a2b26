/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions of which optimisation leaves little; each comment says how often it is called. */
#include <stdio.h>
#include <stdlib.h>

/* Called 7 times by main(), and 5 times by quadruple(), where it is no statement of its own. */
static int triple(int number)
{
	return number * 3;
}

/* Called 5 times. */
static inline __attribute__((always_inline)) int quadruple(int number)
{
	return number + triple(number);
}

/* Called 1973 times. It has no side effects until its calls are counted. */
static __attribute__((noinline)) int fibonacci(int number)
{
	return number < 2 ? number : fibonacci(number - 1) + fibonacci(number - 2);
}

int main(void)
{
	long sum = 0;

	for (int number = 0; number < 7; number++)
		sum += triple(rand() % 9);
	for (int number = 0; number < 5; number++)
		sum += quadruple(rand() % 9);
	printf("%ld\n", sum + fibonacci(15));
	return 0;
}
