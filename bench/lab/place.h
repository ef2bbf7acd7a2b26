/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The place that records are written to, and the check that they arrived. A place is a file, or a
 * stream whose other end is in the same process, so that figures do not depend on the scheduler.
 *
 * A round writes RECORDS_PER_ROUND records, and each record begins with its number. The other end
 * of a stream reads whenever BURST_BYTES are under way; the stream's buffers can hold this many
 * bytes. The time of reading is included.
 */
#ifndef PLACE_H
#define PLACE_H

#include <stdint.h>

#include "lab.h"

enum place_kind { PLACE_FILE, PLACE_EXT4, PLACE_PIPE, PLACE_TCP, PLACE_UNIX, PLACES };

#define BURST_BYTES 65536

/* An operation's argument holds the place and the size of the records. */
#define PLACED(kind, size) ((long)(kind) << 16 | (size))
#define PLACE_OF(argument) ((enum place_kind)((argument) >> 16))
#define SIZE_OF(argument) ((argument)&0xffff)

struct place {
	enum place_kind kind;
	int in;	 /* descriptor to write to */
	int out; /* descriptor to read from; for a file the same as `in` */
	long size;
	long burst;	/* the other end reads when this many bytes are under way */
	long under_way; /* bytes written that the other end has not read */
	long received;	/* bytes that the other end has read in this round */
};

extern struct place place;
/* The records of one call, at distances of LARGEST_RECORD. */
extern char records[RECORDS_PER_CALL][LARGEST_RECORD];

/* All return 0 or a negative errno. */
int place_open(long argument);
int place_rewind(long argument);
/* Reads all bytes that are under way. */
int place_burst(void);
/* Ends a round: delivers all records. */
int place_settle(void);
/* After a round: compares the delivered records with those written. */
int place_verify(long argument, long count);
void place_close(void);

/* Records that this many bytes were written, and reads if a burst is complete. */
static inline int place_written(long bytes)
{
	place.under_way += bytes;
	return place.under_way < place.burst ? 0 : place_burst();
}

/* Returns the record with this number written at its beginning. */
static inline char *record_of(long number)
{
	char *record = records[number % RECORDS_PER_CALL];

	*(uint64_t *)record = number;
	return record;
}

/* Connects two sockets over TCP on the loopback device. The first is the sender. */
int connect_over_tcp(int ends[2]);
/* Returns the directory of a file system on a disk in memory, or NULL with errno set. */
const char *disk_directory(void);

#endif
