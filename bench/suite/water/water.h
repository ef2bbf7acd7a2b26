/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A periodic box of flexible three-site water molecules.
 *
 * Lengths are in nm, times in ps, masses in u, so energies are in kJ/mol and charges in e. Charges
 * and the Lennard-Jones well are those of SPC (Berendsen and others 1981); bonds are springs, and a
 * third spring between the hydrogens stands for the angle. Molecules whose oxygens are further
 * apart than a cutoff don't interact. Just below it energies are faded out, smoothly, so that
 * forces remain the gradient of the energy, and that is conserved.
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
	double potential; /* its springs', and half of what it shares with others */
};

struct box {
	int count;
	double edge;
	struct molecule *molecules;
};

/* edge**3 molecules on a lattice, at the density of water, with velocities that add up to none. */
bool fill_box(struct box *box, int edge);

/* The forces on one molecule, and its potential energy; changes nothing of the others. */
void compute_forces(struct box *box, int molecule);

/* Half a step of the velocities, with kick_and_drift a whole one of the positions after it. */
void kick(struct molecule *molecule, double time_step);
void kick_and_drift(struct molecule *molecule, double time_step);

double kinetic_energy(const struct box *box);
double potential_energy(const struct box *box);
double total_momentum(const struct box *box); /* its length */

#endif
