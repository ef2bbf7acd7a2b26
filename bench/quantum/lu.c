/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * LU decomposition as in LINPACK's dgefa and dgesl: by columns, with partial
 * pivoting, unblocked ("without ATLAS", in the paper's words).
 */
#include "tasks.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* LINPACK calls a normalised residual of this order correct. */
#define LARGEST_RESIDUAL 100.0

struct lu {
	int order;
	int *pivot;
	double *original; /* columns, one after the other */
	double *factors;
	double *right; /* right-hand side whose solution is (1, 1, …) */
	double *solution;
};

static double next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (double)(*state >> 11) / 9007199254740992.0 - 0.5;
}

static void fill(struct lu *lu)
{
	uint64_t state = 1;

	for (int column = 0; column < lu->order; column++)
		for (int row = 0; row < lu->order; row++) {
			double value = next_random(&state);

			lu->original[(size_t)column * lu->order + row] = value;
			lu->right[row] += value;
		}
}

struct lu *lu_make(int order)
{
	struct lu *lu = calloc(1, sizeof(*lu));
	size_t elements = (size_t)order * order;

	if (!lu)
		return NULL;
	lu->order = order;
	lu->pivot = calloc(order, sizeof(int));
	lu->original = calloc(elements, sizeof(double));
	lu->factors = calloc(elements, sizeof(double));
	lu->right = calloc(order, sizeof(double));
	lu->solution = calloc(order, sizeof(double));
	if (!lu->pivot || !lu->original || !lu->factors || !lu->right || !lu->solution) {
		lu_free(lu);
		return NULL;
	}
	fill(lu);
	return lu;
}

void lu_free(struct lu *lu)
{
	free(lu->solution);
	free(lu->right);
	free(lu->factors);
	free(lu->original);
	free(lu->pivot);
	free(lu);
}

static int largest_below(const double *column, int from, int order)
{
	int largest = from;

	for (int row = from + 1; row < order; row++)
		if (fabs(column[row]) > fabs(column[largest]))
			largest = row;
	return largest;
}

static void exchange(double *column, int one, int other)
{
	double kept = column[one];

	column[one] = column[other];
	column[other] = kept;
}

/* y += factor * x */
static void daxpy(int count, double factor, const double *restrict x, double *restrict y)
{
	for (int i = 0; i < count; i++)
		y[i] += factor * x[i];
}

static void eliminate(struct lu *lu, int step)
{
	int order = lu->order, below = step + 1;
	double *own = lu->factors + (size_t)step * order;
	int pivot = largest_below(own, step, order);

	lu->pivot[step] = pivot;
	exchange(own, step, pivot);
	for (int row = below; row < order; row++)
		own[row] /= -own[step];
	for (int column = below; column < order; column++) {
		double *other = lu->factors + (size_t)column * order;

		exchange(other, step, pivot);
		daxpy(order - below, other[step], own + below, other + below);
	}
}

static void solve(struct lu *lu)
{
	int order = lu->order;
	double *x = lu->solution;

	memcpy(x, lu->right, order * sizeof(double));
	for (int step = 0; step < order - 1; step++) {
		const double *column = lu->factors + (size_t)step * order;

		exchange(x, step, lu->pivot[step]);
		daxpy(order - step - 1, x[step], column + step + 1, x + step + 1);
	}
	for (int step = order - 1; step >= 0; step--) {
		const double *column = lu->factors + (size_t)step * order;

		x[step] /= column[step];
		daxpy(step, -x[step], column, x);
	}
}

/* The largest error of the solution, in units of order * epsilon. */
static double error_of(const struct lu *lu)
{
	double largest = 0;

	for (int row = 0; row < lu->order; row++)
		largest = fmax(largest, fabs(lu->solution[row] - 1));
	return largest / (lu->order * 2.220446049250313e-16);
}

int lu_unit(struct lu *lu, sign_of_life alive, void *context)
{
	size_t bytes = (size_t)lu->order * lu->order * sizeof(double);

	memcpy(lu->factors, lu->original, bytes);
	for (int step = 0; step < lu->order; step++) {
		eliminate(lu, step);
		alive(context);
	}
	solve(lu);
	/* The error grows with the matrix's condition; a wrong factor gives far more. */
	return error_of(lu) < LARGEST_RESIDUAL * lu->order ? 0 : -1;
}
