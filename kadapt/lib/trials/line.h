/* SPDX-License-Identifier: MIT */
/*
 * One line of JSON of a record. It needs no memory and no locale: a program may have set
 * one that writes decimal commas.
 */
#ifndef LIBKADAPT_TRIALS_LINE_H
#define LIBKADAPT_TRIALS_LINE_H

#include <stddef.h>
#include <stdint.h>

#include "base/device_file.h"

struct kadapt_line {
	size_t used;
	char text[1024]; /* what does not fit is left out, and the line is not written */
};

/* A line begins with the process: {"process": 7 */
KADAPT_HIDDEN void kadapt_line_begin(struct kadapt_line *line);
KADAPT_HIDDEN void kadapt_line_add(struct kadapt_line *line, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A number with nine decimals, or null if it is not finite. */
KADAPT_HIDDEN void kadapt_line_number(struct kadapt_line *line, double value);
/* Ends the line with its sum and appends it to the file. Preserves errno. */
KADAPT_HIDDEN void kadapt_line_write(struct kadapt_line *line, const char *file);

#endif
