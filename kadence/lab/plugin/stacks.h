/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the guest's kernel stacks hold, followed by its calls and returns.
 *
 * A frame is known by its slot, the address of its return address. A stack is known by its place in
 * memory. The clock of a stack counts the instructions that run on it, and those of the interrupts
 * that begin on it. So a call does not take what other tasks do while it waits.
 */
#ifndef KADENCE_LAB_STACKS_H
#define KADENCE_LAB_STACKS_H

#include <stdint.h>

#include "functions.h"

/* The processor executed so many instructions of the kernel since the last report. */
void stacks_ran(unsigned int processor, uint64_t instructions);

/* A call wrote its return address. What it calls is not known before that begins. */
void stacks_called(unsigned int processor, uint64_t slot);

/* A function begins: it was called, or its predecessor in the frame jumped to it. */
void stacks_began(unsigned int processor, struct function *function);

/* A return read its address. */
void stacks_returned(unsigned int processor, uint64_t slot);

/*
 * The processor goes back to a program after so long in the kernel, for whatever tasks. This is
 * counted only if there are several.
 */
void stacks_left(unsigned int processor, uint64_t instructions);

/* From now on, all is counted for this section. */
void stacks_enter(int section);

/* The current task is in this phase from its next call on, or in none. */
void stacks_phase(unsigned int processor, const struct function *phase);

#endif
