/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All kinds of control flow of C; the output depends only on the argument. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static jmp_buf back;

static int fibonacci(int n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static int classify(int value)
{
	switch (value % 7) {
	case 0:
		return 3;
	case 1:
	case 2:
		value += 2;
		/* fall through */
	case 5:
		return value & 1 ? -value : value;
	default:
		return 0;
	}
}

/* A machine with one instruction per letter, dispatched by computed jumps. */
static int machine(const char *program)
{
	static void *const operations[] = {&&add, &&twice, &&skip, &&done};
	int sum = 0;

	goto *operations[*program++ - 'a'];
add:
	sum += 3;
	goto *operations[*program++ - 'a'];
twice:
	sum *= 2;
	goto *operations[*program++ - 'a'];
skip:
	if (sum > 20)
		program++;
	goto *operations[*program++ - 'a'];
done:
	return sum;
}

static void leap(int depth)
{
	if (depth == 0)
		longjmp(back, 1);
	leap(depth - 1);
}

static int leaps(int count)
{
	volatile int seen = 0;

	while (count-- > 0) {
		if (setjmp(back) == 0)
			leap(count % 5);
		else
			seen++;
	}
	return seen;
}

static int compare(const void *one, const void *other)
{
	const int a = *(const int *)one, b = *(const int *)other;

	return (a > b) - (a < b);
}

static long sums(const int *numbers, int count)
{
	long sum = 0;

	for (int row = 0; row < count; row++) {
		for (int column = row; column < count; column++)
			sum += numbers[column] > numbers[row] ? numbers[column] : 1;
		if (sum < 0)
			break;
	}
	return sum;
}

/* A nested function that uses a variable of the outer function. */
static int nested(int count)
{
	int sum = 0;
	void add_twice(int value)
	{
		for (int turn = 0; turn < 2; turn++)
			sum += value;
	}

	for (int value = 0; value < count; value++)
		add_twice(value);
	return sum;
}

int main(int argc, char **argv)
{
	const int size = argc > 1 ? atoi(argv[1]) : 40;
	int *numbers = calloc((size_t)size, sizeof(*numbers));
	int total = 0;

	for (int index = 0; index < size; index++) {
		numbers[index] = (index * 7919) % 101;
		total += classify(numbers[index]);
	}
	qsort(numbers, (size_t)size, sizeof(*numbers), compare);
	printf("%d %d %d %d %ld %d\n", fibonacci(15), total, machine("abcabacbad"), leaps(size),
	       sums(numbers, size), nested(size));
	do
		total /= 2;
	while (total);
	if (size > 30) {
		free(numbers);
		exit(0);
	}
	puts("small");
	return 0;
}
