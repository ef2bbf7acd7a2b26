/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tests find functions and loop headers by the comments at the ends of lines. */
#include <setjmp.h>
#include <stdio.h>

volatile int sink;

static int straight(int x) /* straight */
{
	return x * 3;
}

static void nested(int outer, int inner) /* nested */
{
	for (int i = 0; i < outer; i++)		/* nested 1 */
		for (int j = 0; j < inner; j++) /* nested 2 */
			sink += i ^ j;
}

static void in_a_row(int count) /* in_a_row */
{
	int i = 0;
	while (i < count) /* in_a_row 1 */
		sink += i++;
	do {
		sink += i; /* in_a_row 1 */
	} while (--i > 0);
}

inline __attribute__((always_inline)) static int inlined(int x) /* inlined */
{
	return x + straight(x);
}

static int recursive(int depth) /* recursive */
{
	if (depth <= 1)
		return 1;
	return recursive(depth - 1) + recursive(depth - 2);
}

static int tail_recursive(int left, int sum) /* tail_recursive */
{
	return left ? tail_recursive(left - 1, sum + left) : sum;
}

/* Two edges enter the loop. */
static void entered_twice(int skip, int count) /* entered_twice */
{
	int i = 0;
	if (skip) {
		sink += 5;
		goto body;
	}
	sink += 7;
body:
	while (i < count) /* entered_twice 1 */
		sink += i++;
}

static int interpret(const unsigned char *code) /* interpret */
{
	static const void *const labels[] = {&&add, &&twice, &&stop};
	int value = 0;
	goto *labels[*code++];
add:
	value++;
	goto *labels[*code++];
twice:
	value *= 2;
	goto *labels[*code++];
stop:
	return value;
}

static jmp_buf place;

static void jump_back(int value) /* jump_back */
{
	longjmp(place, value);
}

static int jumped(int times) /* jumped */
{
	volatile int count = 0;
	if (setjmp(place) < times) {
		count++;
		jump_back(count);
	}
	for (int i = 0; i < times; i++) /* jumped 1 */
		sink += i;
	return count;
}

static void first_block_is_loop(void) /* first_block_is_loop */
{
	while (sink++ % 13) /* first_block_is_loop 1 */
		;
}

int main(void) /* main */
{
	static const unsigned char code[] = {0, 1, 1, 0, 2};
	int total = 0;
	for (int i = 0; i < 7; i++) /* main 1 */
		total += straight(i);
	nested(10, 4);
	in_a_row(6);
	for (int i = 0; i < 5; i++) /* main 1 */
		total += inlined(i);
	total += recursive(6) + tail_recursive(9, 0);
	entered_twice(0, 3);
	entered_twice(1, 3);
	total += interpret(code) + jumped(4);
	first_block_is_loop();
	printf("%d\n", total);
	return 0;
}
