/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "water.h"

#include <math.h>

#define SQUARE(x) ((x) * (x))

/* (kJ/mol) nm / e^2 */
static const double coulomb = 138.935458;
static const double charge[ATOMS] = {-0.82, 0.41, 0.41};
static const double well = 0.650; /* kJ/mol */
static const double diameter = 0.3166;
static const double cutoff = 0.85;
static const double fade_from = 0.75;
static const double bond_length = 0.1;
static const double bond_stiffness = 345000; /* kJ/mol/nm^2 */
static const double hydrogen_distance = 0.16330;
static const double hydrogen_stiffness = 115000;

static double dot(const double *a, const double *b)
{
	return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* force += factor * along */
static void push(double *force, double factor, const double *along)
{
	for (int axis = 0; axis < AXES; axis++)
		force[axis] += factor * along[axis];
}

static void subtract(double *result, const double *a, const double *b)
{
	for (int axis = 0; axis < AXES; axis++)
		result[axis] = a[axis] - b[axis];
}

static void spring(struct molecule *molecule, int a, int b, double length, double stiffness)
{
	double along[AXES], distance, stretch;

	subtract(along, molecule->position[a], molecule->position[b]);
	distance = sqrt(dot(along, along));
	stretch = distance - length;
	push(molecule->force[a], -stiffness * stretch / distance, along);
	push(molecule->force[b], stiffness * stretch / distance, along);
	molecule->potential += 0.5 * stiffness * SQUARE(stretch);
}

/* A smooth function and its derivative: 1 up to fade_from, 0 from the cutoff on. */
static double faded(double distance, double *slope)
{
	double x = (distance - fade_from) / (cutoff - fade_from);

	*slope = 0;
	if (x <= 0)
		return 1;
	*slope = -6 * x * (1 - x) / (cutoff - fade_from);
	return 1 - x * x * (3 - 2 * x);
}

/* The energy of a pair of molecules, and the forces on the first molecule. */
static double interact(double (*along)[ATOMS][AXES], double (*force)[AXES])
{
	double squared = dot(along[0][0], along[0][0]);
	double sixth =
	    SQUARE(diameter) * SQUARE(diameter) * SQUARE(diameter) / (squared * squared * squared);
	double energy = 4 * well * sixth * (sixth - 1);

	push(force[0], 24 * well * sixth * (2 * sixth - 1) / squared, along[0][0]);
	for (int a = 0; a < ATOMS; a++) {
		for (int b = 0; b < ATOMS; b++) {
			double apart = dot(along[a][b], along[a][b]);
			double part = coulomb * charge[a] * charge[b] / sqrt(apart);

			push(force[a], part / apart, along[a][b]);
			energy += part;
		}
	}
	return energy;
}

static void add_pair(struct molecule *one, const struct molecule *other, const double *between,
		     const double *shift)
{
	double distance = sqrt(dot(between, between)), slope, share = faded(distance, &slope);
	double along[ATOMS][ATOMS][AXES], force[ATOMS][AXES] = {{0}}, energy;

	for (int a = 0; a < ATOMS; a++) {
		for (int b = 0; b < ATOMS; b++) {
			subtract(along[a][b], one->position[a], other->position[b]);
			push(along[a][b], -1, shift);
		}
	}
	energy = interact(along, force);
	for (int a = 0; a < ATOMS; a++)
		push(one->force[a], share, force[a]);
	push(one->force[0], -slope * energy / distance, between);
	one->potential += 0.5 * share * energy;
}

void compute_forces(struct box *box, int number)
{
	struct molecule *one = &box->molecules[number];

	one->potential = 0;
	for (int a = 0; a < ATOMS; a++)
		for (int axis = 0; axis < AXES; axis++)
			one->force[a][axis] = 0;
	spring(one, 0, 1, bond_length, bond_stiffness);
	spring(one, 0, 2, bond_length, bond_stiffness);
	spring(one, 1, 2, hydrogen_distance, hydrogen_stiffness);
	for (int i = 0; i < box->count; i++) {
		double between[AXES], shift[AXES];

		if (i == number)
			continue;
		subtract(between, one->position[0], box->molecules[i].position[0]);
		for (int axis = 0; axis < AXES; axis++)
			shift[axis] = box->edge * rint(between[axis] / box->edge);
		subtract(between, between, shift);
		if (dot(between, between) < SQUARE(cutoff))
			add_pair(one, &box->molecules[i], between, shift);
	}
}
