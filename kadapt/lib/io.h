/* SPDX-License-Identifier: MIT */
/* What the files of the I/O paths share: the slow ways in, and counters. */
#ifndef LIBKADAPT_IO_H
#define LIBKADAPT_IO_H

#include <sys/uio.h>

#include "channel.h"
#include "settle.h"

/* What a descriptor refers to. */
enum kadapt_kind {
	KADAPT_KIND_UNKNOWN,
	KADAPT_KIND_FILE,
	KADAPT_KIND_PIPE,
	KADAPT_KIND_SOCKET,
	KADAPT_KIND_OTHER,
};

/* Asked of the kernel once, as long as the number means the same. */
KADAPT_HIDDEN enum kadapt_kind kadapt_kind_of(int descriptor);

/*
 * The one descriptor is a copy of the other. What is sent through two goes in
 * the order of the calls, so neither may have a ring; of files and pipes, the
 * kernel sees to that. Returns the copy.
 */
KADAPT_HIDDEN int kadapt_note_copy(int descriptor, int copy);

/* The same for those that the process was started with. */
KADAPT_HIDDEN void kadapt_note_inherited_copies(void);

/* Are there two still? */
KADAPT_HIDDEN int kadapt_has_copy(struct kadapt_channel *channel);

/* Before another kind of write to the descriptor: 0, or -1 and errno, and it may not be made. */
KADAPT_HIDDEN int kadapt_before_write(int descriptor, int no_wait);

/*
 * Before a read: on anything but a file it may wait for an answer, to what any
 * of the rings holds.
 */
static inline void kadapt_before_read(int descriptor)
{
	kadapt_settle_one(descriptor);
	if (__builtin_expect(kadapt_bound != 0, 0) &&
	    kadapt_kind_of(descriptor) != KADAPT_KIND_FILE)
		kadapt_settle_every();
}

/* What became of a record. */
enum kadapt_outcome {
	KADAPT_PLAIN,	 /* nothing yet: what was before it is written, so make the call */
	KADAPT_APPENDED, /* it is in the ring */
	KADAPT_FAILED,	 /* return -1: errno is set */
};

/* What is to be appended. */
struct kadapt_record {
	const void *bytes;
	size_t size;		    /* of all of it */
	const struct iovec *pieces; /* if not NULL, in the place of bytes */
	int piece_count;
	uint64_t offset; /* with KADAPT_TRY_AT */
};

/* As pwrite(2). */
#define KADAPT_TRY_AT 0x1
/* Do not wait for the other end. */
#define KADAPT_TRY_NO_WAIT 0x2
/* Sockets only: on anything else the call fails. */
#define KADAPT_TRY_SOCKET 0x4
KADAPT_HIDDEN enum kadapt_outcome kadapt_try(int descriptor, const struct kadapt_record *record,
					     unsigned int flags);

/*
 * Bind a ring, for pwrite() at this offset, for a stream, or else for write(); 1
 * or 0. From inside the channel, with nothing bound.
 */
KADAPT_HIDDEN int kadapt_bind(struct kadapt_channel *channel, const uint64_t *offset, FILE *stream);

/* Copy it to its place and publish it; 1, or 0: it must be written otherwise. From inside. */
KADAPT_HIDDEN int kadapt_put(struct kadapt_channel *channel, const struct kadapt_record *record);

/* If the kernel let go, the next record is the first of another burst. From inside. */
KADAPT_HIDDEN void kadapt_end_if_let_go(struct kadapt_channel *channel);

/* Room for so much in the ring, if that can be had without waiting; 1 or 0. From inside. */
KADAPT_HIDDEN int kadapt_make_room(struct kadapt_channel *channel, size_t size);

/* Before the plain call: what is pending goes out, a kept error comes back. */
KADAPT_HIDDEN enum kadapt_outcome kadapt_before_plain(struct kadapt_channel *channel, int no_wait);

#endif
