/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program that writes records through a ring, or by write(2) if the ring does not accept them. It
 * tells another process of each accepted record before it begins the next one.
 */
#ifndef WRITER_H
#define WRITER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "records.h"
#include "ring.h"
#include "sinks.h"

/* In memory that both processes share. */
struct progress {
	_Atomic uint64_t told;	   /* records whose append, or write, returned */
	_Atomic uint32_t bound;	   /* times that a ring was bound */
	_Atomic uint64_t ringed;   /* records of these that a ring accepted */
	_Atomic int unbound;	   /* errno of the last binding that was refused */
	_Atomic int refusal;	   /* errno of the last write(2) that failed */
	_Atomic bool begun, ended; /* the first record; the last one the writer meant to write */
};

struct writer {
	struct test_ring ring;
	struct sink *sink;
	struct progress *progress;
	const struct sequence *sequence;
	uint64_t number; /* of the next record */
	uint64_t dice;
};

/* All of these are for the writing process. They return 0, or -1 with errno. */
int writer_begin(struct writer *writer, struct sink *sink, struct progress *progress,
		 const struct sequence *sequence);
/* Writes the next record. Returns 0, or -1 if write(2) refused the record. */
int writer_next(struct writer *writer);
/* Writes this many records with random pauses, or fewer if one is refused. */
void writer_write(struct writer *writer, uint64_t count);

/* In by_ring.c or library/by_library.c. Returns 0, or -1 with errno or a told refusal. */
int writer_equip(struct writer *writer);
int writer_take(struct writer *writer, const void *record);

#endif
