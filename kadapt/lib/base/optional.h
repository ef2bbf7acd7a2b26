/* SPDX-License-Identifier: MIT */
/*
 * Functions of rings and of the arena that the report, the phase calls and the guard of
 * filters use. They are weak: a program without I/O sites or memory sites does not have
 * them.
 */
#ifndef LIBKADAPT_OPTIONAL_H
#define LIBKADAPT_OPTIONAL_H

#include <stdint.h>

#define KADAPT_OPTIONAL __attribute__((visibility("hidden"), weak))

/* What the process has written. */
struct kadapt_io_totals {
	uint64_t appends; /* records that went into rings */
	uint64_t bytes;	  /* of these */
	uint64_t binds;
	uint64_t drains; /* requested by the library */
	uint64_t plain;	 /* redirected calls that were made plainly */
};

KADAPT_OPTIONAL void kadapt_io_count(struct kadapt_io_totals *totals);

/* Ends all open rings. */
KADAPT_OPTIONAL void kadapt_rings_unbind(void);

/* Make no more calls of the device: the program is about to go under seccomp(2). */
KADAPT_OPTIONAL void kadapt_io_stop(void);

/* The program is about to make this call with this first argument by syscall(). */
KADAPT_OPTIONAL void kadapt_io_before_call(long number, long first);

/* Defined if the program has the functions of kadapt/lib/filter. */
extern const int kadapt_is_guarded KADAPT_OPTIONAL;

/* What the arena has served. */
struct kadapt_memory_totals {
	uint64_t blocks;      /* taken by the program */
	uint64_t bytes;	      /* of these */
	uint64_t again_bytes; /* of these, kept from earlier blocks */
	uint64_t peak_bytes;  /* most in use at a time */
	uint64_t refused;     /* blocks that the arena had no room for */
};

/* Returns 0 if the process has taken no block. */
KADAPT_OPTIONAL int kadapt_memory_count(struct kadapt_memory_totals *totals);

/* Gives kept memory back if it has become too much. */
KADAPT_OPTIONAL void kadapt_memory_look(void);

#endif
