/* SPDX-License-Identifier: MIT */
/*
 * What page faults and huge pages were measured to cost on this machine's own kernel,
 * and the file that remembers it: one file per machine, in the user's cache.
 * measure/memory.c writes the file; libkadapt reads it.
 *
 * A measurement holds for one kernel, one setting of huge pages, one kind of processor
 * and one machine: its subject. The file's name is computed from the subject, and the
 * file contains it. So the reader never finds a measurement of another machine, or of
 * an earlier setting. The reader trusts only a regular file that belongs to the
 * process's user, that nobody else may write, and that has no second name.
 */
#ifndef LIBKADAPT_MEMORY_COSTS_H
#define LIBKADAPT_MEMORY_COSTS_H

#include <stddef.h>

#include "base/device_file.h"

#define KADAPT_COSTS_SUBJECT_BYTES 1024
#define KADAPT_COSTS_PATH_BYTES 4096

/* Line 1 of the file, each number 0 or 1. Line 2 is the subject. Readers ignore further lines. */
#define KADAPT_COSTS_FORMAT "kadence-memory-costs 1 populate %d huge %d\n"

/* All 0 if nothing is known: then the library does nothing that malloc would not do. */
struct kadapt_costs {
	int populate_pays; /* making pages present in bulk, compared with faults */
	int huge_pays;	   /* asking for huge pages */
};

/* Writes the subject: one line, without its newline. */
KADAPT_HIDDEN void kadapt_costs_subject(char *text, size_t room);

/* Writes the path of this user's folder. Returns 0 if there can be none. */
KADAPT_HIDDEN int kadapt_costs_folder(char *path, size_t room);

/* Writes the path of this subject's file in the folder. Returns 0 if there can be none. */
KADAPT_HIDDEN int kadapt_costs_path(char *path, size_t room, const char *subject);

/* Reads the remembered costs. Returns 0 if there is no file of this subject to be trusted. */
KADAPT_HIDDEN int kadapt_costs_read(const char *path, const char *subject,
				    struct kadapt_costs *found);

#endif
