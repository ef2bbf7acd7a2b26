/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef QUANTUM_TASKS_H
#define QUANTUM_TASKS_H

/* Called by a task a few hundred times a second, so that exchanges can be counted. */
typedef void (*sign_of_life)(void *context);

/* One unit of a task's work; returns 0, or -1 when its result is wrong. */
int fibonacci_unit(void);

struct lu;

/* A random matrix of that order, or NULL. */
struct lu *lu_make(int order);
/* Factorise a fresh copy of the matrix, solve, check the residual: 0 or -1. */
int lu_unit(struct lu *lu, sign_of_life alive, void *context);
void lu_free(struct lu *lu);

#endif
