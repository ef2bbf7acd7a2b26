/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where records go, and proof that they got there: a file, or a stream whose other end is in the
 * same process, so that no scheduler decides what a figure is.
 *
 * A round writes RECORDS_PER_ROUND records, each begun with its number. A stream's are read by its
 * other end whenever BURST_BYTES of them are under way, which its buffers hold; reading counts in.
 */
#ifndef PLACE_H
#define PLACE_H

#include <stdint.h>

#include "lab.h"

enum place_kind { PLACE_FILE, PLACE_EXT4, PLACE_PIPE, PLACE_TCP, PLACE_UNIX, PLACES };

#define BURST_BYTES 65536

/* An operation's argument says which records go where. */
#define PLACED(kind, size) ((long)(kind) << 16 | (size))
#define PLACE_OF(argument) ((enum place_kind)((argument) >> 16))
#define SIZE_OF(argument) ((argument)&0xffff)

struct place {
	enum place_kind kind;
	int in;	 /* what is written to */
	int out; /* what it comes out of; of a file: the same */
	long size;
	long burst;	/* when so many are under way, they are read */
	long under_way; /* bytes written that the other end has not read */
	long received;	/* bytes it has read in this round */
};

extern struct place place;
/* As many as go into one call, each LARGEST_RECORD from the one before. */
extern char records[RECORDS_PER_CALL][LARGEST_RECORD];

/* All return 0 or a negative errno. */
int place_open(long argument);
int place_rewind(long argument);
/* What is under way is read. */
int place_burst(void);
/* The end of a round: everything is delivered. */
int place_settle(void);
/* After a round: what was delivered is what was written. */
int place_verify(long argument, long count);
void place_close(void);

/* So many bytes were written: read when it is time to. */
static inline int place_written(long bytes)
{
	place.under_way += bytes;
	return place.under_way < place.burst ? 0 : place_burst();
}

/* The record of this number. */
static inline char *record_of(long number)
{
	char *record = records[number % RECORDS_PER_CALL];

	*(uint64_t *)record = number;
	return record;
}

/* Connected over TCP on the loopback device: the sender first. */
int connect_over_tcp(int ends[2]);
/* A disk in memory, with a file system; its directory, or NULL with errno set. */
const char *disk_directory(void);

#endif
