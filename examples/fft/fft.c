/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fft: heat diffusion on a ring, solved by Fourier transforms.
 *
 * Each step transforms the temperatures (radix 2, decimation in time), damps every mode by its
 * loss during the step, and transforms the result back. Every transform allocates its result and
 * its table of roots with malloc, as spectral codes do whose routines return arrays. So each
 * transform allocates two arrays and two are freed. A moment later the program allocates the
 * same sizes again.
 *
 * usage: fft [-n power of two] [-s steps]
 *
 * There are 2^n points. The first temperatures are a sum of cosines, so the exact answer at any
 * time is known. An error above 1e-9 ends the program with status 1. The last line is a checksum
 * of all bits of the result.
 */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The first temperatures have 8 modes, and fewer points could not tell these apart. */
#define SMALLEST_POWER 5
#define LARGEST_POWER 28
#define MOST_STEPS 1000000

struct settings {
	int power; /* there are 2^power points */
	int steps;
};

struct complex {
	double real;
	double imaginary;
};

enum direction { FORWARD = -1, BACKWARD = 1 };

static const double largest_error = 1e-9;
/* The time of one step. In these units mode 1 loses the factor e in a time of 1. */
static const double step_time = 1e-3;
/* Mode m begins with the amplitude 1 / m. */
static const int modes = 8;

static int number(const char *text, char option, int smallest, int largest)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (errno || *end || end == text || value < smallest || value > largest) {
		fprintf(stderr, "fft: -%c takes a whole number from %d to %d, not '%s'\n", option,
			smallest, largest, text);
		exit(EXIT_FAILURE);
	}
	return (int)value;
}

static struct settings settings_from_arguments(int argc, char **argv)
{
	struct settings settings = {.power = 20, .steps = 6};
	int option;

	while ((option = getopt(argc, argv, "n:s:")) != -1) {
		if (option == 'n')
			settings.power = number(optarg, 'n', SMALLEST_POWER, LARGEST_POWER);
		else if (option == 's')
			settings.steps = number(optarg, 's', 1, MOST_STEPS);
		else
			exit(EXIT_FAILURE);
	}
	return settings;
}

static struct complex *new_array(size_t length)
{
	struct complex *array = malloc(length * sizeof(*array));

	if (!array) {
		fprintf(stderr, "fft: %s\n", strerror(errno));
		exit(EXIT_FAILURE);
	}
	return array;
}

static double exact(double position, double time)
{
	double temperature = 0;

	for (int mode = 1; mode <= modes; mode++)
		temperature += cos(mode * position) * exp(-mode * mode * time) / mode;
	return temperature;
}

static struct complex *first_temperatures(size_t points)
{
	struct complex *field = new_array(points);

	for (size_t i = 0; i < points; i++)
		field[i] = (struct complex){exact(2 * M_PI * (double)i / (double)points, 0), 0};
	return field;
}

static size_t reversed(size_t number, int bits)
{
	size_t result = 0;

	for (int bit = 0; bit < bits; bit++)
		result |= (number >> bit & 1) << (bits - 1 - bit);
	return result;
}

/* The first half of the points-th roots of unity. */
static struct complex *new_roots(size_t points, enum direction direction)
{
	struct complex *roots = new_array(points / 2);

	for (size_t i = 0; i < points / 2; i++) {
		double angle = direction * 2 * M_PI * (double)i / (double)points;

		roots[i] = (struct complex){cos(angle), sin(angle)};
	}
	return roots;
}

static void butterfly(struct complex *upper, struct complex *lower, struct complex root)
{
	struct complex turned = {
	    lower->real * root.real - lower->imaginary * root.imaginary,
	    lower->real * root.imaginary + lower->imaginary * root.real,
	};

	*lower = (struct complex){upper->real - turned.real, upper->imaginary - turned.imaginary};
	*upper = (struct complex){upper->real + turned.real, upper->imaginary + turned.imaginary};
}

/* Combines pairs of transforms of `half` points to transforms of twice as many. */
static void combine(struct complex *values, size_t points, size_t half, const struct complex *roots)
{
	size_t stride = points / (2 * half);

	for (size_t start = 0; start < points; start += 2 * half)
		for (size_t i = 0; i < half; i++)
			butterfly(&values[start + i], &values[start + i + half], roots[i * stride]);
}

/* Returns a new array. Forward and backward make 2^power times the original. */
static struct complex *transformed(const struct complex *values, int power,
				   enum direction direction)
{
	size_t points = (size_t)1 << power;
	struct complex *result = new_array(points);
	struct complex *roots = new_roots(points, direction);

	for (size_t i = 0; i < points; i++)
		result[i] = values[reversed(i, power)];
	for (size_t half = 1; half < points; half *= 2)
		combine(result, points, half, roots);
	free(roots);
	return result;
}

/* Applies the loss of each mode in a step, and removes the factor of the two transforms. */
static void damp(struct complex *spectrum, size_t points)
{
	for (size_t i = 0; i < points; i++) {
		double mode = (double)(i <= points / 2 ? i : points - i);
		double factor = exp(-mode * mode * step_time) / (double)points;

		spectrum[i].real *= factor;
		spectrum[i].imaginary *= factor;
	}
}

/* Frees the old temperatures and returns the new ones. */
static struct complex *step(struct complex *field, int power)
{
	struct complex *spectrum = transformed(field, power, FORWARD);
	struct complex *next;

	free(field);
	damp(spectrum, (size_t)1 << power);
	next = transformed(spectrum, power, BACKWARD);
	free(spectrum);
	return next;
}

static double error_at(const struct complex *field, size_t points, double time)
{
	double largest = 0;

	for (size_t i = 0; i < points; i++) {
		double wanted = exact(2 * M_PI * (double)i / (double)points, time);

		largest = fmax(largest, fabs(field[i].real - wanted));
	}
	return largest;
}

/* FNV-1a over the real parts: a user would keep only these. */
static uint64_t checksum(const struct complex *field, size_t points)
{
	uint64_t sum = 0xcbf29ce484222325;

	for (size_t i = 0; i < points; i++) {
		uint64_t bits;

		memcpy(&bits, &field[i].real, sizeof(bits));
		sum = (sum ^ bits) * 0x100000001b3;
	}
	return sum;
}

int main(int argc, char **argv)
{
	struct settings settings = settings_from_arguments(argc, argv);
	size_t points = (size_t)1 << settings.power;
	struct complex *field = first_temperatures(points);
	double error;

	for (int i = 0; i < settings.steps; i++)
		field = step(field, settings.power);
	error = error_at(field, points, settings.steps * step_time);
	printf("points %zu steps %d first %.12f\n", points, settings.steps, field[0].real);
	printf("checksum %016jx\n", (uintmax_t)checksum(field, points));
	free(field);
	/* Written so that a result that is not a number is an error, too. */
	if (!(error <= largest_error)) {
		fprintf(stderr, "fft: the error is %g, more than %g\n", error, largest_error);
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}
