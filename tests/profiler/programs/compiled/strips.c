/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loops without calls, of many shapes and lengths. With an argument: two long loops only.
 */
#include <stdio.h>
#include <stdlib.h>

#define APART __attribute__((noinline, noclone))

enum { CELLS = 3000001, LONG = 200000000 };

APART static long upwards(long n)
{
	long sum = 0;

	for (long i = 0; i < n; i++)
		sum += i ^ 3;
	return sum;
}

APART static long downwards(long n)
{
	long sum = 0;

	for (long i = n; i > 0; i--)
		sum += i ^ 3;
	return sum;
}

APART static long by_threes(int n)
{
	long sum = 0;

	for (int i = 1; i <= n; i += 3)
		sum += i ^ 5;
	return sum;
}

APART static unsigned long by_pointer(const int *at, const int *end)
{
	unsigned long sum = 0;

	for (; at != end; at++)
		sum += (unsigned long)*at * 7;
	return sum;
}

APART static unsigned at_least_once(unsigned n)
{
	unsigned sum = 0, i = 0;

	do {
		sum += i * i;
		i++;
	} while (i < n);
	return sum;
}

/* Counts the steps of the Collatz sequence from n to 1. */
APART static long unknown(long n)
{
	long steps = 0;

	while (n != 1) {
		n = n & 1 ? 3 * n + 1 : n / 2;
		steps++;
	}
	return steps;
}

APART static long searched(const int *cells, long n, int wanted)
{
	for (long i = 0; i < n; i++) {
		if (cells[i] == wanted)
			return i;
		if (cells[i] < 0)
			break;
	}
	return -1;
}

APART static long by_cases(const int *cells, long n)
{
	long sum = 0;

	for (long i = 0; i < n; i++)
		if (cells[i] & 1)
			sum += cells[i];
		else
			sum -= 3;
	return sum;
}

APART static void filled(int *cells, long n)
{
	for (long i = 0; i < n; i++)
		cells[i] = (int)((unsigned)i * 1103515245u >> 7);
}

/* Each round depends on the round before. */
APART static unsigned long chained(long n)
{
	unsigned long last = 1;

	for (long i = 0; i < n; i++)
		last = last * 6364136223846793005ul + 1;
	return last;
}

APART static unsigned long chained_until(unsigned long end)
{
	unsigned long last = 1, rounds = 0;

	while (last != end) {
		last = last * 6364136223846793005ul + 1;
		rounds++;
	}
	return rounds;
}

static void all(const int *cells, long n)
{
	printf("%ld: %ld %ld %ld %lu %u %ld %ld\n", n, upwards(n), downwards(n), by_threes((int)n),
	       by_pointer(cells, cells + n), at_least_once((unsigned)n), searched(cells, n, -5),
	       by_cases(cells, n));
}

int main(int argc, char **argv)
{
	int *cells = malloc(CELLS * sizeof(*cells));

	(void)argv;
	if (argc > 1)
		return chained_until(chained(LONG)) != LONG;
	filled(cells, CELLS);
	for (long n = 0; n < 5; n++)
		all(cells, n);
	for (long n = 4090; n < 4102; n++)
		all(cells, n);
	all(cells, CELLS);
	printf("%ld\n", unknown(837799));
	free(cells);
	return 0;
}
