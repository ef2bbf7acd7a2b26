/* SPDX-License-Identifier: MIT */
/*
 * The few functions of numbers that trials need. An adapted program may be linked
 * without the library of mathematics.
 */
#ifndef LIBKADAPT_NUMBERS_H
#define LIBKADAPT_NUMBERS_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

static inline double kadapt_size(double value)
{
	return value < 0 ? -value : value;
}

static inline double kadapt_larger(double one, double other)
{
	return one > other ? one : other;
}

/* The root of a number from 0. */
double kadapt_root(double value);

/* The natural logarithm of a number above 0, correct to 1e-12. */
double kadapt_logarithm(double value);

/* The median of at least one value; of an even number, the upper one. Sorts the values. */
float kadapt_median(float *values, uint32_t count);

/* The value that Student's t exceeds with probability 2.5 %; `degrees` from 1. */
double kadapt_student(uint32_t degrees);

/* Returns 64 random bits and advances the state (Steele et al. 2014, SplitMix64). */
uint64_t kadapt_random(uint64_t *state);

#pragma GCC visibility pop

#endif
