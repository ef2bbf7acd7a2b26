/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program that writes records through a ring, and by write(2) where the ring won't have them. It
 * tells another process of each record that was taken, before it begins with the next.
 */
#ifndef WRITER_H
#define WRITER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "records.h"
#include "ring.h"
#include "sinks.h"

/* In memory that both processes have. */
struct progress {
	_Atomic uint64_t told;	   /* records whose append, or write, returned */
	_Atomic uint32_t bound;	   /* times that a ring was bound */
	_Atomic uint64_t ringed;   /* records of those that a ring took */
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

/* All of these are for the writing process. 0, or -1 with errno set. */
int writer_begin(struct writer *writer, struct sink *sink, struct progress *progress,
		 const struct sequence *sequence);
/* The next record: 0, or -1 where write(2) refused it. */
int writer_next(struct writer *writer);
/* So many records, with pauses at random between them; less where one is refused. */
void writer_write(struct writer *writer, uint64_t count);

/* by_ring.c, or library/by_library.c. 0, or -1 with errno set or the refusal told. */
int writer_equip(struct writer *writer);
int writer_take(struct writer *writer, const void *record);

#endif
