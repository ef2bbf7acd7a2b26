/* SPDX-License-Identifier: MIT */
/*
 * What was measured of memory on this machine's own kernel, and where that is
 * remembered: a file a machine, in the user's cache. measure/memory.c writes it,
 * libkadapt reads it.
 *
 * A measurement is true of one kernel, with one setting of huge pages, on one kind
 * of processor, of one machine: its subject. The file's name is made from that, and
 * the file holds it, so that what was measured elsewhere, or before a setting was
 * changed, is not found. A file counts only if it is a regular one of the process's
 * own user, that nobody else may write and that has no other name.
 */
#ifndef LIBKADAPT_MEMORY_COSTS_H
#define LIBKADAPT_MEMORY_COSTS_H

#include <stddef.h>

#include "base/device_file.h"

#define KADAPT_COSTS_SUBJECT_BYTES 1024
#define KADAPT_COSTS_PATH_BYTES 4096

/* Line 1 of the file: this, with a 0 or a 1 each; line 2: the subject; the rest is for people. */
#define KADAPT_COSTS_FORMAT "kadence-memory-costs 1 populate %d huge %d\n"

/* All 0: not known, so nothing is done that malloc would not do. */
struct kadapt_costs {
	int populate_pays; /* to make pages present in bulk, beside faults */
	int huge_pays;	   /* to ask for huge pages */
};

/* One line, without its end. */
KADAPT_HIDDEN void kadapt_costs_subject(char *text, size_t room);

/* The folder for this user; 0 where there can be none. */
KADAPT_HIDDEN int kadapt_costs_folder(char *path, size_t room);

/* The file of this subject in there; 0 where there can be none. */
KADAPT_HIDDEN int kadapt_costs_path(char *path, size_t room, const char *subject);

/* What is remembered of it; 0 where nothing is, or nothing to be trusted. */
KADAPT_HIDDEN int kadapt_costs_read(const char *path, const char *subject,
				    struct kadapt_costs *found);

#endif
