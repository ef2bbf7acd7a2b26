/* SPDX-License-Identifier: MIT */
/*
 * The units that the user names for the program's phases (docs/live.md): KADAPT_UNITS
 * has words NAME or NAME:PHASE,PHASE…, with blanks between them. Without phases, all
 * phases of the plan take the unit. Words that are not of this form name nothing.
 */
#ifndef LIBKADAPT_UNITS_H
#define LIBKADAPT_UNITS_H

#include <stdint.h>

#include "kadapt.h"

/* The words; empty if the user names none. */
__attribute__((visibility("hidden"))) const char *kadapt_units(void);

/*
 * Go on from *word to the next unit of this phase. Returns 1 and its name, filled up with
 * zeroes, or 0 after the last one.
 */
__attribute__((visibility("hidden"))) int kadapt_units_next(const char **word, uint32_t phase,
							    char name[KADAPT_UNIT_NAME]);

#endif
