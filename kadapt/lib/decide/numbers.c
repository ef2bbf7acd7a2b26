// SPDX-License-Identifier: MIT
#include <emmintrin.h>
#include <string.h>

#include "decide/numbers.h"

#define LOGARITHM_OF_2 0.693147180559945309
#define ROOT_OF_2 1.41421356237309505
#define TERMS 12

double kadapt_root(double value)
{
	__m128d number = _mm_set_sd(value);

	return _mm_cvtsd_f64(_mm_sqrt_sd(number, number));
}

/* The value is mantissa * 2^exponent, with a mantissa from 1 to below 2. */
static double take_apart(double value, int *exponent)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	*exponent = (int)(bits >> 52) - 1023;
	bits = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1023) << 52;
	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* log(m) = 2 artanh(z) with z = (m - 1) / (m + 1), by its series; |z| is below 0.172. */
double kadapt_logarithm(double value)
{
	int exponent;
	double mantissa = take_apart(value, &exponent);
	double z, square, sum = 0;

	if (mantissa > ROOT_OF_2) {
		mantissa /= 2;
		exponent++;
	}
	z = (mantissa - 1) / (mantissa + 1);
	square = z * z;
	for (int term = TERMS; term >= 0; term--)
		sum = sum * square + 1.0 / (2 * term + 1);
	return 2 * z * sum + exponent * LOGARITHM_OF_2;
}

/* Abramowitz and Stegun 1964, 26.7.5, which is correct to 0.2 % from four degrees on. */
double kadapt_student(uint32_t degrees)
{
	static const double few[] = {12.7062, 4.3027, 3.1824};
	const double z = 1.959964;
	double n = degrees;

	if (degrees <= sizeof(few) / sizeof(few[0]))
		return few[degrees - 1];
	return z + (z * z * z + z) / (4 * n) +
	       (5 * z * z * z * z * z + 16 * z * z * z + 3 * z) / (96 * n * n);
}

/* Insertion is quick enough for some hundred values. */
float kadapt_median(float *values, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++) {
		float value = values[i];
		uint32_t place = i;

		for (; place && values[place - 1] > value; place--)
			values[place] = values[place - 1];
		values[place] = value;
	}
	return values[count / 2];
}

uint64_t kadapt_random(uint64_t *state)
{
	uint64_t mixed = *state += UINT64_C(0x9e3779b97f4a7c15);

	mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
	return mixed ^ (mixed >> 31);
}
