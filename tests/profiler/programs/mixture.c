/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls, loops, string instructions and library code, for comparison with another profiler. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long fibonacci(int n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static int ascending(const void *one, const void *other)
{
	return *(const int *)one - *(const int *)other;
}

static long format(int count)
{
	char text[64];
	long length = 0;

	for (int i = 0; i < count; i++)
		length += snprintf(text, sizeof(text), "%d %g", i, i * 1.5);
	return length;
}

int main(void)
{
	static int values[2000];
	static char area[20000];
	long sum = 0;

	for (int round = 0; round < 3; round++) {
		sum += fibonacci(20) + format(300);
		for (int i = 0; i < 2000; i++)
			values[i] = (i * 7919) % 2003;
		qsort(values, 2000, sizeof(values[0]), ascending);
		for (int i = 0; i < 10; i++) {
			memset(area, i, sizeof(area));
			sum += area[i] + values[i];
		}
	}
	printf("%ld\n", sum);
	return 0;
}
