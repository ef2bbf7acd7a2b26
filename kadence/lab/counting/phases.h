/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * In which phase the task is that runs. Tasks are told apart by their kernel stacks, which the
 * kernel changes in __switch_to_asm. kadapt/driver/mark/mark.c marks the phases of tasks.
 */
#ifndef KADENCE_LAB_PHASES_H
#define KADENCE_LAB_PHASES_H

#include <stdint.h>
#include <stdio.h>

/* Number 0 is outside of phases; all phases behind the last one are counted as that one. */
#define PHASES 32

/* The number under which the current task's phase is counted. */
unsigned int phase_now(void);

/* One bit of a phase's number, the highest first; then the phase begins, or none does. */
void phase_bit(unsigned int bit);
void phase_begins(void);
void phase_ends(void);

/* The kernel reads or writes a task's stack while it switches to another. */
void phase_stack(uint64_t slot);

/* How many numbers are in use. */
unsigned int phases_used(void);

/* Lines `phase NUMBER PHASE`. */
void phases_print(FILE *file);

#endif
