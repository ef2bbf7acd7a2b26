/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fibonacci: computes a Fibonacci number by plain recursion. Nearly all of its work is calls.
 *
 * usage: fibonacci [n]
 *
 * There is one addition per call, so the number of calls grows with the Fibonacci number itself.
 * The sum of the first Fibonacci numbers is one less than a later one (Lucas 1876). The program
 * checks its result by iteration with this rule, and ends with status 1 if they differ.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define LARGEST 60

static int number(const char *text)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (errno || *end || end == text || value < 0 || value > LARGEST) {
		fprintf(stderr, "fibonacci: a whole number from 0 to %d is expected, not '%s'\n",
			LARGEST, text);
		exit(EXIT_FAILURE);
	}
	return (int)value;
}

static uint64_t fibonacci(int n)
{
	return n < 2 ? (uint64_t)n : fibonacci(n - 1) + fibonacci(n - 2);
}

/* Computes the n-th number as one more than the sum of the numbers up to the (n - 2)-th. */
static uint64_t by_sum(int n)
{
	uint64_t before = 0, last = 1, sum = 1;

	if (n == 0)
		return 0;
	for (int i = 2; i < n; i++) {
		uint64_t next = before + last;

		sum += before;
		before = last;
		last = next;
	}
	return n < 3 ? 1 : sum + before;
}

int main(int argc, char **argv)
{
	int n = number(argc > 1 ? argv[1] : "41");
	uint64_t found = fibonacci(n);

	printf("fibonacci %d is %ju\n", n, (uintmax_t)found);
	if (found != by_sum(n)) {
		fprintf(stderr, "fibonacci: it should be %ju\n", (uintmax_t)by_sum(n));
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}
