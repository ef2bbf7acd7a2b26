/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * water: molecular dynamics of water in a periodic box, every molecule against every other, with
 * POSIX threads; the kind of work of Water-Nsquared in SPLASH (Singh and others 1992).
 *
 * usage: water [-n molecules along an edge] [-s steps] [-d time step, ps] [-t threads]
 *
 * Atoms move by velocity Verlet (Swope and others 1982). The energy must stay constant within 1e-3
 * of the kinetic energy, and the momentum must stay zero. Otherwise the status is 1.
 *
 * The output is the same on any number of threads. One thread sums a molecule's forces over all
 * other molecules in their order, so each pair is computed twice. Energies are summed after the
 * threads have met at a barrier. The last line is a checksum of all bits of the positions.
 */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "water.h"

#define MOST_THREADS 64
#define MOST_STEPS 1000000
/* Limits of the box's edge: more than twice the cutoff, and a limited size of the arrays. */
#define SMALLEST_EDGE 6
#define LARGEST_EDGE 20

struct settings {
	int edge;
	int steps;
	double time_step; /* ps */
	int threads;
};

struct worker {
	pthread_t thread;
	struct simulation *simulation;
	int first, end; /* its molecules */
};

struct simulation {
	struct settings settings;
	struct box box;
	pthread_barrier_t barrier;
	double first_energy, last_energy, last_kinetic; /* kJ/mol */
};

static const double largest_drift = 1e-3;
static const double largest_momentum = 1e-6; /* u nm/ps */
static const int reports = 4;

static double number(const char *text, char option, double smallest, double largest)
{
	char *end;
	double value;

	errno = 0;
	value = strtod(text, &end);
	if (errno || *end || end == text || !(value >= smallest && value <= largest)) {
		fprintf(stderr, "water: -%c takes a number from %g to %g, not '%s'\n", option,
			smallest, largest, text);
		exit(EXIT_FAILURE);
	}
	return value;
}

static struct settings settings_from_arguments(int argc, char **argv)
{
	struct settings settings = {.edge = 7, .steps = 60, .time_step = 5e-4, .threads = 2};
	int option;

	while ((option = getopt(argc, argv, "n:s:d:t:")) != -1) {
		if (option == 'n')
			settings.edge = (int)number(optarg, 'n', SMALLEST_EDGE, LARGEST_EDGE);
		else if (option == 's')
			settings.steps = (int)number(optarg, 's', 1, MOST_STEPS);
		else if (option == 'd')
			settings.time_step = number(optarg, 'd', 1e-6, 1e-3);
		else if (option == 't')
			settings.threads = (int)number(optarg, 't', 1, MOST_THREADS);
		else
			exit(EXIT_FAILURE);
	}
	return settings;
}

/* Only one thread reads the energies. The other threads wait until it has finished. */
static void report(struct simulation *simulation, int step)
{
	const struct settings *settings = &simulation->settings;
	int every = settings->steps >= reports ? settings->steps / reports : 1;
	double kinetic, energy;

	if (step % every && step != settings->steps)
		return;
	kinetic = kinetic_energy(&simulation->box);
	energy = kinetic + potential_energy(&simulation->box);
	if (step == 0)
		simulation->first_energy = energy;
	simulation->last_energy = energy;
	simulation->last_kinetic = kinetic;
	printf("step %d kinetic %.9f energy %.9f\n", step, kinetic, energy);
}

static void meet_and_report(struct simulation *simulation, int step)
{
	if (pthread_barrier_wait(&simulation->barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
		report(simulation, step);
	pthread_barrier_wait(&simulation->barrier);
}

static void *work(void *argument)
{
	struct worker *worker = argument;
	struct simulation *simulation = worker->simulation;
	struct box *box = &simulation->box;
	double time_step = simulation->settings.time_step;

	for (int i = worker->first; i < worker->end; i++)
		compute_forces(box, i);
	meet_and_report(simulation, 0);
	for (int step = 1; step <= simulation->settings.steps; step++) {
		for (int i = worker->first; i < worker->end; i++)
			kick_and_drift(&box->molecules[i], time_step);
		pthread_barrier_wait(&simulation->barrier);
		for (int i = worker->first; i < worker->end; i++)
			compute_forces(box, i);
		for (int i = worker->first; i < worker->end; i++)
			kick(&box->molecules[i], time_step);
		meet_and_report(simulation, step);
	}
	return NULL;
}

static void fail(const char *what, int error)
{
	fprintf(stderr, "water: %s: %s\n", what, strerror(error));
	exit(EXIT_FAILURE);
}

static void run(struct simulation *simulation)
{
	int threads = simulation->settings.threads;
	struct worker workers[MOST_THREADS];
	int error = pthread_barrier_init(&simulation->barrier, NULL, (unsigned)threads);

	if (error)
		fail("no barrier", error);
	for (int i = 0; i < threads; i++) {
		workers[i].simulation = simulation;
		workers[i].first = simulation->box.count * i / threads;
		workers[i].end = simulation->box.count * (i + 1) / threads;
		error = pthread_create(&workers[i].thread, NULL, work, &workers[i]);
		if (error)
			fail("no thread", error);
	}
	for (int i = 0; i < threads; i++)
		pthread_join(workers[i].thread, NULL);
	pthread_barrier_destroy(&simulation->barrier);
}

/* The FNV-1a checksum of the positions. */
static uint64_t checksum(const struct box *box)
{
	uint64_t sum = 0xcbf29ce484222325;

	for (int i = 0; i < box->count; i++) {
		uint64_t words[sizeof(box->molecules[i].position) / sizeof(uint64_t)];

		memcpy(words, box->molecules[i].position, sizeof(words));
		for (size_t word = 0; word < sizeof(words) / sizeof(*words); word++)
			sum = (sum ^ words[word]) * 0x100000001b3;
	}
	return sum;
}

static bool conserved(const struct simulation *simulation)
{
	double drift = fabs(simulation->last_energy - simulation->first_energy);
	double momentum = total_momentum(&simulation->box);

	/* Negated, so that NaN is an error too. */
	if (!(drift <= largest_drift * simulation->last_kinetic)) {
		fprintf(stderr, "water: the energy changed by %g kJ/mol\n", drift);
		return false;
	}
	if (!(momentum <= largest_momentum)) {
		fprintf(stderr, "water: the momentum became %g u nm/ps\n", momentum);
		return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	struct simulation simulation = {.settings = settings_from_arguments(argc, argv)};
	bool right;

	if (!fill_box(&simulation.box, simulation.settings.edge))
		fail("no memory", errno);
	run(&simulation);
	printf("checksum %016jx\n", (uintmax_t)checksum(&simulation.box));
	right = conserved(&simulation);
	free(simulation.box.molecules);
	return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
