/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The guest kernel's functions, and what the plugin counted of each. */
#ifndef KADENCE_LAB_FUNCTIONS_H
#define KADENCE_LAB_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define SECTIONS 8 /* 0 is outside of all */
#define PROCESSORS 2

/* All are instructions but `calls`. */
struct tally {
	uint64_t calls, own, inclusive, longest;
};

struct function {
	uint64_t address;
	char *name;
	struct tally tallies[SECTIONS][PROCESSORS];
};

/*
 * Reads lines "ADDRESS NAME", in hexadecimal and by rising addresses. Returns false if the file
 * can't be read or has no function.
 */
bool functions_read(const char *path);

/* Returns the function that begins at the address, or NULL. */
struct function *function_at(uint64_t address);

/* Code that no known function called. */
extern struct function function_unknown;

/* The function that changes stacks, or NULL; functions_read() finds it. */
extern struct function *function_switch;

/* How long a processor is in the kernel between two instructions of programs. */
extern struct function function_stay;

/* Prints lines "SECTION PROCESSOR NAME CALLS OWN INCLUSIVE LONGEST". */
void functions_print(FILE *file);

#endif
