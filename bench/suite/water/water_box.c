/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "water.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

static const double mass[ATOMS] = {15.9994, 1.008, 1.008};
static const double spacing = 0.3104;	 /* nm between molecules: 33.4 molecules per nm^3 */
static const double first_speed = 0.645; /* nm/ps, the most along an axis: about 300 K */
static const double shape[ATOMS][AXES] = {{0, 0, 0}, {0.08165, 0.05774, 0}, {-0.08165, 0.05774, 0}};

/* A minimal standard generator (Park and Miller 1988). Returns numbers from -1 to 1. */
static double pseudo_random(uint64_t *state)
{
	*state = *state * 16807 % 2147483647;
	return 2 * (double)*state / 2147483647 - 1;
}

/* Neighbours have different orientations, so that the box has no large dipole. */
static void place(struct molecule *molecule, const int *cell)
{
	int turn = (cell[0] + cell[1] + cell[2]) % AXES;
	int sign = (cell[0] + cell[1] + cell[2]) % 2 ? 1 : -1;

	for (int a = 0; a < ATOMS; a++)
		for (int axis = 0; axis < AXES; axis++)
			molecule->position[a][axis] =
			    spacing * cell[axis] + sign * shape[a][(axis + turn) % AXES];
}

static void stop_drift(struct box *box)
{
	for (int axis = 0; axis < AXES; axis++) {
		double sum = 0;

		for (int i = 0; i < box->count; i++)
			sum += box->molecules[i].velocity[0][axis];
		for (int i = 0; i < box->count; i++)
			for (int a = 0; a < ATOMS; a++)
				box->molecules[i].velocity[a][axis] -= sum / box->count;
	}
}

bool fill_box(struct box *box, int edge)
{
	uint64_t state = 1;

	box->count = edge * edge * edge;
	box->edge = spacing * edge;
	box->molecules = calloc((size_t)box->count, sizeof(*box->molecules));
	if (!box->molecules)
		return false;
	for (int i = 0; i < box->count; i++) {
		struct molecule *molecule = &box->molecules[i];
		int cell[AXES] = {i % edge, i / edge % edge, i / edge / edge};

		place(molecule, cell);
		for (int axis = 0; axis < AXES; axis++) {
			double speed = first_speed * pseudo_random(&state);

			/* Bonds begin at rest. */
			for (int a = 0; a < ATOMS; a++)
				molecule->velocity[a][axis] = speed;
		}
	}
	stop_drift(box);
	return true;
}

void kick(struct molecule *molecule, double time_step)
{
	for (int a = 0; a < ATOMS; a++)
		for (int axis = 0; axis < AXES; axis++)
			molecule->velocity[a][axis] +=
			    0.5 * time_step * molecule->force[a][axis] / mass[a];
}

void kick_and_drift(struct molecule *molecule, double time_step)
{
	kick(molecule, time_step);
	for (int a = 0; a < ATOMS; a++)
		for (int axis = 0; axis < AXES; axis++)
			molecule->position[a][axis] += time_step * molecule->velocity[a][axis];
}

double kinetic_energy(const struct box *box)
{
	double sum = 0;

	for (int i = 0; i < box->count; i++)
		for (int a = 0; a < ATOMS; a++)
			for (int axis = 0; axis < AXES; axis++)
				sum += 0.5 * mass[a] * box->molecules[i].velocity[a][axis] *
				       box->molecules[i].velocity[a][axis];
	return sum;
}

double potential_energy(const struct box *box)
{
	double sum = 0;

	for (int i = 0; i < box->count; i++)
		sum += box->molecules[i].potential;
	return sum;
}

double total_momentum(const struct box *box)
{
	double squared = 0;

	for (int axis = 0; axis < AXES; axis++) {
		double sum = 0;

		for (int i = 0; i < box->count; i++)
			for (int a = 0; a < ATOMS; a++)
				sum += mass[a] * box->molecules[i].velocity[a][axis];
		squared += sum * sum;
	}
	return sqrt(squared);
}
