/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef QUANTUM_TASKS_H
#define QUANTUM_TASKS_H

/* Called by a task a few hundred times a second, so that exchanges can be counted. */
typedef void (*sign_of_life)(void *context);

/* Does one unit of a task's work. Returns 0, or -1 if the result is wrong. */
int fibonacci_unit(void);

struct lu;

/* Returns a random matrix of that order, or NULL. */
struct lu *lu_make(int order);
/* Factorises a fresh copy of the matrix, solves, and checks the solution. Returns 0 or -1. */
int lu_unit(struct lu *lu, sign_of_life alive, void *context);
void lu_free(struct lu *lu);

#endif
