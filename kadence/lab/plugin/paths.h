/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paths: a function together with the functions that called it, from a task's entry into the
 * kernel on. What is counted of a path is its own; readers add up what is below.
 */
#ifndef KADENCE_LAB_PATHS_H
#define KADENCE_LAB_PATHS_H

#include <stdint.h>
#include <stdio.h>

#include "functions.h"

struct path {
	const struct path *parent; /* NULL for a root */
	const struct function *function;
	uint64_t calls, own; /* instructions */
	uint64_t waited;     /* virtual nanoseconds for which the task did not run */
};

/* Where paths begin. */
enum root {
	ROOT_OTHERS,	 /* tasks that are not the command's */
	ROOT_COMMAND,	 /* the command and its descendants */
	ROOT_INTERRUPTS, /* interrupts, whatever they interrupt */
	ROOTS,
};

struct path *paths_root(int section, enum root root);

/* The function below the parent. If there is no memory left, the parent itself. */
struct path *paths_below(struct path *parent, const struct function *function);

/*
 * Prints "dropped NUMBER", how many times there was no memory left, and lines "SECTION NUMBER
 * PARENT NAME CALLS OWN WAITED". Parents come before their children; the parent of a root is -1.
 */
void paths_print(FILE *file);

#endif
