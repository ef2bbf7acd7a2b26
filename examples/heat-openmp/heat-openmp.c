/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heat-openmp: heat diffusion with checkpoints, as ../heat, on several threads.
 *
 * The threads share the rows of each step. Each cell is computed from the same numbers in the
 * same order, whichever thread computes it. One thread writes the records and adds up the sums.
 * So output and checkpoint are those of ../heat with the same options, to the last byte, on any
 * number of threads.
 *
 * usage: heat-openmp [-n cells] [-s steps] [-e steps between checkpoints] [-g sampling distance]
 *                    [-o checkpoint file] [-t threads] [-m]
 *
 * -t 0, the default, leaves the number of threads to OMP_NUM_THREADS.
 *
 * -m starts from the plate's fundamental mode, sin(pi x) sin(pi y), which the scheme multiplies
 * by 1 - 8 r sin^2(pi h / 2) in each step: the right answer is known by construction.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <omp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LONGEST_RECORD 128
#define MOST_THREADS 1024

struct settings {
	long cells; /* along each side, without the rim */
	long steps;
	long steps_between_checkpoints;
	long sampling_distance;
	int threads; /* 0: as OMP_NUM_THREADS says */
	const char *checkpoint_file;
	bool fundamental_mode;
};

/* Two copies of the plate: each step reads one and writes the other. */
struct plate {
	long width; /* cells along each side, with the rim */
	double *now;
	double *next;
};

static const double diffusion_number = 0.2; /* r; the scheme is stable up to 0.25 */

static void fail(const char *what)
{
	fprintf(stderr, "heat-openmp: %s: %s\n", what, strerror(errno));
	exit(EXIT_FAILURE);
}

static long positive_number(const char *text, char option)
{
	char *end;
	long number;

	errno = 0;
	number = strtol(text, &end, 10);
	if (errno || *end || end == text || number < 1 || number > INT_MAX) {
		fprintf(stderr, "heat-openmp: -%c takes a positive whole number, not '%s'\n",
			option, text);
		exit(EXIT_FAILURE);
	}
	return number;
}

static int number_of_threads(const char *text)
{
	long threads = strcmp(text, "0") ? positive_number(text, 't') : 0;

	if (threads > MOST_THREADS) {
		fprintf(stderr, "heat-openmp: -t takes at most %d\n", MOST_THREADS);
		exit(EXIT_FAILURE);
	}
	return (int)threads;
}

static struct settings settings_from_arguments(int argc, char **argv)
{
	struct settings settings = {
	    .cells = 512,
	    .steps = 6000,
	    .steps_between_checkpoints = 300,
	    .sampling_distance = 8,
	    .checkpoint_file = "heat.checkpoint",
	};
	int option;

	while ((option = getopt(argc, argv, "n:s:e:g:o:t:m")) != -1) {
		switch (option) {
		case 'n':
			settings.cells = positive_number(optarg, 'n');
			break;
		case 's':
			settings.steps = positive_number(optarg, 's');
			break;
		case 'e':
			settings.steps_between_checkpoints = positive_number(optarg, 'e');
			break;
		case 'g':
			settings.sampling_distance = positive_number(optarg, 'g');
			break;
		case 't':
			settings.threads = number_of_threads(optarg);
			break;
		case 'o':
			settings.checkpoint_file = optarg;
			break;
		case 'm':
			settings.fundamental_mode = true;
			break;
		default:
			exit(EXIT_FAILURE);
		}
	}
	return settings;
}

static double initial_temperature(const struct settings *settings, long row, long column)
{
	const double spacing = 1.0 / (double)(settings->cells + 1);

	if (settings->fundamental_mode)
		return sin(M_PI * (double)row * spacing) * sin(M_PI * (double)column * spacing);
	/* A hot square off the centre, so that no symmetry hides a mistake. */
	if (row > settings->cells / 8 && row <= settings->cells / 2 &&
	    column > settings->cells / 4 && column <= settings->cells / 2)
		return 100.0;
	return 0.0;
}

static struct plate heated_plate(const struct settings *settings)
{
	struct plate plate = {.width = settings->cells + 2};
	size_t area = (size_t)plate.width * (size_t)plate.width;

	plate.now = calloc(area, sizeof(*plate.now));
	plate.next = calloc(area, sizeof(*plate.next));
	if (!plate.now || !plate.next)
		fail("memory for the plate");
	for (long row = 1; row <= settings->cells; row++)
		for (long column = 1; column <= settings->cells; column++)
			plate.now[row * plate.width + column] =
			    initial_temperature(settings, row, column);
	return plate;
}

/* One step of the scheme; the rim is never written and stays at 0. */
static void diffuse(struct plate *plate)
{
	const long width = plate->width;
	double *spare = plate->now;

#pragma omp parallel for schedule(static)
	for (long row = 1; row < width - 1; row++) {
		const double *here = plate->now + row * width;
		double *next = plate->next + row * width;

		for (long column = 1; column < width - 1; column++)
			next[column] = here[column] +
				       diffusion_number * (here[column - width] +
							   here[column + width] + here[column - 1] +
							   here[column + 1] - 4.0 * here[column]);
	}
	plate->now = plate->next;
	plate->next = spare;
}

static void write_record(int file, const char *record, size_t length)
{
	while (length > 0) {
		ssize_t written = write(file, record, length);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			fail("writing the checkpoint");
		record += written;
		length -= (size_t)written;
	}
}

static void checkpoint(const struct plate *plate, const struct settings *settings, int file,
		       long step)
{
	char record[LONGEST_RECORD];

	for (long row = 1; row <= settings->cells; row += settings->sampling_distance)
		for (long column = 1; column <= settings->cells;
		     column += settings->sampling_distance) {
			int length = snprintf(record, LONGEST_RECORD, "%ld %ld %ld %.17g\n", step,
					      row, column, plate->now[row * plate->width + column]);

			write_record(file, record, (size_t)length);
		}
}

static double total_heat(const struct plate *plate)
{
	double total = 0.0;

	for (long cell = 0; cell < plate->width * plate->width; cell++)
		total += plate->now[cell];
	return total;
}

static double hottest(const struct plate *plate)
{
	double maximum = 0.0;

	for (long cell = 0; cell < plate->width * plate->width; cell++)
		maximum = fmax(maximum, plate->now[cell]);
	return maximum;
}

int main(int argc, char **argv)
{
	struct settings settings = settings_from_arguments(argc, argv);
	struct plate plate = heated_plate(&settings);
	int file = open(settings.checkpoint_file, O_WRONLY | O_CREAT | O_TRUNC, 0666);

	if (settings.threads)
		omp_set_num_threads(settings.threads);
	if (file < 0)
		fail(settings.checkpoint_file);
	for (long step = 1; step <= settings.steps; step++) {
		diffuse(&plate);
		if (step % settings.steps_between_checkpoints == 0)
			checkpoint(&plate, &settings, file, step);
	}
	if (close(file))
		fail(settings.checkpoint_file);
	printf("steps %ld\ntotal heat %.17g\nhottest cell %.17g\n", settings.steps,
	       total_heat(&plate), hottest(&plate));
	free(plate.now);
	free(plate.next);
	return EXIT_SUCCESS;
}
