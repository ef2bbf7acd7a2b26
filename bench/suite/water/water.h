/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A periodic box of flexible three-site water molecules.
 *
 * Lengths are in nm, times in ps, masses in u, so energies are in kJ/mol and charges in e. Charges
 * and the Lennard-Jones well are those of SPC (Berendsen and others 1981); bonds are springs, and a
 * third spring between the hydrogens represents the angle. Molecules whose oxygens are further
 * apart than a cutoff do not interact. Just below the cutoff, energies fade out smoothly, so that
 * forces remain the gradient of the energy, and the energy is conserved.
 */
#ifndef WATER_H
#define WATER_H

#include <stdbool.h>

#define ATOMS 3 /* of a molecule: oxygen, hydrogen, hydrogen */
#define AXES 3

struct molecule {
	double position[ATOMS][AXES];
	double velocity[ATOMS][AXES];
	double force[ATOMS][AXES];
	double potential; /* energy of its springs, and half of its energy with other molecules */
};

struct box {
	int count;
	double edge;
	struct molecule *molecules;
};

/* Places edge**3 molecules on a lattice, at the density of water, with a total momentum of zero. */
bool fill_box(struct box *box, int edge);

/* Computes the forces on one molecule and its potential energy. Changes no other molecule. */
void compute_forces(struct box *box, int molecule);

/* Advance the velocities by half a step; kick_and_drift then advances the positions by a step. */
void kick(struct molecule *molecule, double time_step);
void kick_and_drift(struct molecule *molecule, double time_step);

double kinetic_energy(const struct box *box);
double potential_energy(const struct box *box);
double total_momentum(const struct box *box); /* the length of the vector */

#endif
