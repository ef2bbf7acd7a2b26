# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs of whose blocks or layout something is known."""

# The ways through choose() are known: of 1,000 numbers, 100 are divisible by 10, 900 are not, and
# none is negative.
KNOWN = """
#include <stdlib.h>
static int __attribute__((noinline)) choose(int number)
{
	if (number < 0)
		abort();
	if (number % 10 == 0)
		return number / 10;
	return number + 1;
}
int never(int number)
{
	return number ? choose(number) : 0;
}
int main(void)
{
	int sum = 0;
	for (int number = 0; number < 1000; number++)
		sum += choose(number);
	return sum == 0;
}
"""
# Its sum differs in the last bit if the product and the sum become one instruction, which tail
# duplication allows.
FUSED = """
#include <stdio.h>
static double __attribute__((noinline)) sum(const double *a, const double *b, int n, int every)
{
	double total = 0.1;
	for (int i = 0; i < n; i++) {
		double product;
		if (i % 1000 != every) {
			product = a[i] * b[i];
		} else {
			printf("%d", i);
			product = b[i];
		}
		total += product;
		if (total > 1e300)
			puts("large");
	}
	return total;
}
int main(int count, char **words)
{
	double a[10000], b[10000];
	for (int i = 0; i < 10000; i++) {
		a[i] = 1.0 / (i + 3);
		b[i] = 1.0 / (i * i + 7.1);
	}
	printf("%a", sum(a, b, 10000, count > 1 ? words[1][0] : -1));
	return 0;
}
"""

# GCC inlines half() into both callers before it counts.
INLINED_TWICE = """
static inline int half(int number)
{
	return number % 2 ? number - 1 : number / 2;
}
static int __attribute__((noinline)) seldom(int number)
{
	return half(4 * number);
}
static int __attribute__((noinline)) often(int number)
{
	return half(2 * number + 1);
}
int main(void)
{
	int sum = 0;
	for (int number = 0; number < 1000; number++) {
		if (number % 100 == 0)
			sum += seldom(number);
		sum += often(number);
	}
	return sum == 0;
}
"""

# GCC inlines mixed() before it counts, but not with one more call in it.
INLINED_IF_SMALL = """
static unsigned long mixed(unsigned seed, unsigned steps)
{
	unsigned long state = ((unsigned long)seed << 32) | steps;
	for (unsigned step = 0; step < steps; step++)
		state = state * 6364136223846793005UL + 1442695040888963407UL;
	return state;
}
static unsigned long __attribute__((noinline)) total(unsigned rounds)
{
	unsigned long sum = 0;
	for (unsigned round = 0; round < rounds; round++)
		sum += mixed(round, 10);
	return sum;
}
int main(void)
{
	return total(1000) == 0;
}
"""

# Behind the first way, which never runs, lies the same code as behind the second one.
JOINED = """
int state[4];
static void __attribute__((noipa)) note(int which)
{
	state[which]++;
}
static int __attribute__((noipa)) step(int kind, int number)
{
	int answer = number;
	if (kind)
		note(0);
	else if (number % 3)
		note(1);
	else
		answer = state[2] * number;
	while (answer > 40) {
		note(3);
		answer /= 3;
	}
	return answer + state[0];
}
int main(void)
{
	int sum = 0;
	for (int number = 0; number < 30000; number++)
		sum += step(0, number);
	return sum == 0;
}
"""

# Its loop has few rounds, so the compiler peels it.
SHORT_LOOP = """
#include <string.h>
static unsigned __attribute__((noinline)) hash(const char *text, size_t length)
{
	unsigned sum = 2166136261U;
	while (length-- != 0) {
		sum ^= (unsigned char)*text++;
		sum *= 16777619U;
	}
	return sum;
}
int main(void)
{
	static const char *const words[] = {"a", "few", "short", "words"};
	unsigned sum = 0;
	for (int number = 0; number < 4000; number++)
		sum += hash(words[number % 4], strlen(words[number % 4]));
	return sum == 0;
}
"""
