/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The guest kernel's functions, and what the plugin counted of each. */
#ifndef KADENCE_LAB_FUNCTIONS_H
#define KADENCE_LAB_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define SECTIONS 128 /* 0 is outside of all */
#define PROCESSORS 2

/* All are instructions but `calls`. */
struct tally {
	uint64_t calls, own, inclusive, longest;
};

/* What a function tells of the task that calls it. */
enum meaning {
	MEANS_NOTHING,
	MEANS_INTERRUPT, /* it does not belong to what called it */
	MEANS_FORK,	 /* a task was created */
	MEANS_BIRTH,	 /* the first function of a task */
	MEANS_KERNEL_TASK,
};

struct function {
	uint64_t address;
	char *name;
	enum meaning meaning;
	struct tally *tallies[SECTIONS]; /* by processor, or NULL */
};

/* Returns the tally, which begins at 0. */
struct tally *function_tally(struct function *function, int section, unsigned int processor);

/*
 * Reads lines "ADDRESS NAME", in hexadecimal and by rising addresses. Returns false if the file
 * can't be read or has no function.
 */
bool functions_read(const char *path);

/* Returns the function that begins at the address, or NULL. */
struct function *function_at(uint64_t address);

/* Returns what stands for a phase in paths, named "phase:NUMBER". */
struct function *function_phase(uint32_t number);

/* Code that no known function called. */
extern struct function function_unknown;

/* The function that changes stacks, or NULL; functions_read() finds it. */
extern struct function *function_switch;

/* How long a processor is in the kernel between two instructions of programs. */
extern struct function function_stay;

/* Prints lines "SECTION PROCESSOR NAME CALLS OWN INCLUSIVE LONGEST". */
void functions_print(FILE *file);

#endif
