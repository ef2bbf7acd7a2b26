/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Small loops in functions that are inlined one after the other. The start of a function is then
 * only a step from the end of one loop to the head of the next.
 */
#include <stdio.h>
#include <stdlib.h>

enum { AXES = 3, PAIRS = 4000 };

/* Called 2 * PAIRS times. */
static void subtract(double *result, const double *one, const double *other)
{
	for (int axis = 0; axis < AXES; axis++)
		result[axis] = one[axis] - other[axis];
}

/* Called PAIRS times, and once more for each pair that is near. */
static void push(double *force, double factor, const double *along)
{
	for (int axis = 0; axis < AXES; axis++)
		force[axis] += factor * along[axis];
}

static double dot(const double *one, const double *other)
{
	return one[0] * other[0] + one[1] * other[1] + one[2] * other[2];
}

/* Called PAIRS times. */
static double attract(double *force, const double *one, const double *other)
{
	double between[AXES], shift[AXES], near = 0;

	subtract(between, one, other);
	for (int axis = 0; axis < AXES; axis++)
		shift[axis] = between[axis] > 0.5;
	subtract(between, between, shift);
	if (dot(between, between) < 0.25) {
		push(force, 2, between);
		near = 1;
	}
	push(force, 1, between);
	return near;
}

int main(void)
{
	double force[AXES] = {0}, one[AXES], other[AXES], near = 0;

	for (int pair = 0; pair < PAIRS; pair++) {
		for (int axis = 0; axis < AXES; axis++) {
			one[axis] = rand() / (RAND_MAX + 1.0);
			other[axis] = rand() / (RAND_MAX + 1.0);
		}
		near += attract(force, one, other);
	}
	printf("%.0f %g\n", near, dot(force, force));
	return 0;
}
