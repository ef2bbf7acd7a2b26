// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measures, in a third of a second, the costs of the kernel that it runs on:
 *
 *   kadence-costs DIRECTORY CLASS...
 *
 * writes a line for each class: its name and its nanoseconds. They are those of the quickest of
 * several batches, which other work on the machine disturbed least. The program makes files in
 * DIRECTORY, and reads COLD_FILE there, which the caller made with COLD_PAGES pages. ../costs.py
 * explains the classes. A class that cannot be measured on this kernel has no line.
 *
 * What it gets wrong: an operation costs least when it is repeated. A fork costs more in a process
 * with much memory, an open more with a deep path.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "costs.h"

/* Batches are short, so that some fall between the machine's other work. All classes take turns,
 * several times, because disturbances come and go. */
#define PASSES 4
#define FEWEST_BATCHES 2
#define PASS_NANOSECONDS 6000000L
#define BATCH_NANOSECONDS 150000L
#define NANOSECONDS 1000000000L
#define MOST (1L << 30)
#define MOST_NAMES 64

struct class
{
	const char *name;
	charge_function charge;
	long least; /* operations in a batch */
	long most;  /* likewise */
};

static const struct class classes[] = {
    {"compute", charge_compute, 1 << 16, MOST},
    {"call", charge_call, 1, MOST},
    {"clock", charge_clock, 1, MOST},
    {"open", charge_open, 1, MOST},
    {"look", charge_look, 1, MOST},
    {"write", charge_write, 1, MOST},
    {"written-page", charge_written_page, 1, 256},
    {"read", charge_read, 1, MOST},
    {"read-page", charge_read_page, 8, 8},
    {"pipe", charge_pipe, 1, MOST},
    {"socket", charge_socket, 1, MOST},
    {"map", charge_map, 1, MOST},
    {"fault", charge_fault, 16, 16},
    {"free", charge_free, 64, 64},
    {"populate", charge_populate, 256, 256},
    {"file-fault", charge_file_fault, 8, 8},
    {"signal", charge_signal, 1, MOST},
    {"wait", charge_wait, 64, MOST},
    {"fork", charge_fork, 1, 1},
    {"exec", charge_exec, 1, 1},
    {"trace", charge_trace, 1, MOST},
};

static long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * NANOSECONDS + time.tv_nsec;
}

/* Returns the nanoseconds of one operation, or a negative number if it failed. */
static double measure(charge_function charge, long count)
{
	long began = now();
	long done = charge(count);

	return done > 0 ? (double)(now() - began) / (double)done : -1;
}

/* Returns a count, within the class's bounds, at which a batch is long enough for the clock. */
static long fitting(const struct class *class)
{
	long count = class->least;

	while (count < class->most) {
		double each = measure(class->charge, count);

		if (each < 0 || each * (double)count >= BATCH_NANOSECONDS)
			break;
		count = 4 * count < class->most ? 4 * count : class->most;
	}
	return count;
}

static double quickest(const struct class *class, long count, double best)
{
	long began = now();

	for (int i = 0; i < FEWEST_BATCHES || now() - began < PASS_NANOSECONDS; i++) {
		double each = measure(class->charge, count);

		if (each < 0)
			break;
		if (best < 0 || each < best)
			best = each;
	}
	return best;
}

static const struct class *find(const char *name)
{
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if (!strcmp(classes[i].name, name))
			return &classes[i];
	fprintf(stderr, "kadence-costs: there is no class %s\n", name);
	exit(EXIT_FAILURE);
}

static void tell(int number, char **names)
{
	double best[MOST_NAMES];
	long count[MOST_NAMES];

	for (int i = 0; i < number; i++) {
		best[i] = -1;
		count[i] = fitting(find(names[i]));
	}
	for (int pass = 0; pass < PASSES; pass++)
		for (int i = 0; i < number; i++)
			best[i] = quickest(find(names[i]), count[i], best[i]);
	for (int i = 0; i < number; i++)
		if (best[i] >= 0)
			printf("%s %.2f\n", names[i], best[i]);
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], NOTHING))
		_exit(EXIT_SUCCESS);
	if (argc < 3 || argc > MOST_NAMES) {
		fprintf(stderr, "usage: kadence-costs DIRECTORY CLASS...\n");
		return EXIT_FAILURE;
	}
	if (chdir(argv[1])) {
		fprintf(stderr, "kadence-costs: cannot work in %s\n", argv[1]);
		return EXIT_FAILURE;
	}
	tell(argc - 2, argv + 2);
	return EXIT_SUCCESS;
}
