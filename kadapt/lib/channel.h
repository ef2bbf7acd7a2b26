/* SPDX-License-Identifier: MIT */
/*
 * A channel is what the library knows of a descriptor number: the ring that is
 * bound to it, if any, and how it is used. Numbers from KADAPT_CHANNELS on have
 * none, and their calls stay plain.
 *
 * One thread at a time is inside a channel. A thread that finds itself there
 * already is a signal handler that interrupted an append: it leaves the ring to
 * that, and makes the plain call.
 */
#ifndef LIBKADAPT_CHANNEL_H
#define LIBKADAPT_CHANNEL_H

#include <stdint.h>
#include <stdio.h>
#include <sys/single_threaded.h>

#include "device_file.h"

#define KADAPT_CHANNELS 1024
#define KADAPT_NO_RING UINT32_MAX

struct kadapt_channel {
	uintptr_t owner;		   /* the thread inside; 0: nobody */
	struct kadapt_ring_header *header; /* of the ring that write() appends to, or NULL */
	struct kadapt_ring_header *other;  /* of one for pwrite() or a stream, or NULL */
	char *data;			   /* of whichever of the two there is */
	uint64_t mask;			   /* bytes of that ring, less 1 */
	uint64_t appends;		   /* records that went into rings, ever */
	uint64_t offset;		   /* pwrite(): where the next record would go */
	FILE *stream;			   /* bound for this stream's records; else NULL */

	uint64_t plain;		/* redirected calls that were made as they are */
	uint64_t begun;		/* savings when the ring was bound, see burst.c */
	uint64_t judged;	/* savings that have been judged */
	uint64_t stream_bytes;	/* that went into the stream's own buffer since */
	uint64_t stream_buffer; /* size of that buffer */
	uint32_t ring;		/* index in the pool plus 1; 0: none */
	uint32_t streak;	/* plain calls in a row that could have been appends */
	uint32_t patience;	/* a streak that long is worth a binding, less 1 */
	uint32_t poor;		/* drains in a row that came after few records */
	int error;		/* kept for the next write, fsync or close */
	uint8_t kind;		/* enum kadapt_kind, of what the number refers to */
	uint8_t is_copied;	/* a socket with another descriptor in this process */
	uint8_t stream_moved;	/* the stream does not know its file's offset */
	uint8_t stream_failed;	/* a record of the stream was lost to an error */
} __attribute__((aligned(64)));

extern struct kadapt_channel kadapt_channels[KADAPT_CHANNELS] KADAPT_HIDDEN;

/* Rings that may hold something, a bit each: 0 says that there is nothing to drain. */
extern _Atomic uint64_t kadapt_bound KADAPT_HIDDEN;

/* Whether this process may have rings. */
extern int kadapt_has_rings KADAPT_HIDDEN;

/* Binding and drain calls that the library made, for the report. */
extern _Atomic uint64_t kadapt_binds KADAPT_HIDDEN;
extern _Atomic uint64_t kadapt_drains KADAPT_HIDDEN;

static inline int kadapt_has_channel(int descriptor)
{
	return (unsigned int)descriptor < KADAPT_CHANNELS;
}

/* The channel, or NULL. */
static inline struct kadapt_channel *kadapt_channel_of(int descriptor)
{
	return kadapt_has_channel(descriptor) ? &kadapt_channels[descriptor] : NULL;
}

static inline int kadapt_descriptor_of(const struct kadapt_channel *channel)
{
	return (int)(channel - kadapt_channels);
}

static inline struct kadapt_ring_header *kadapt_header_of(const struct kadapt_channel *channel)
{
	return channel->header ? channel->header : channel->other;
}

/* Wait until nobody is in the channel; 0 if that is the calling thread itself. */
KADAPT_HIDDEN int kadapt_channel_enter_shared(struct kadapt_channel *channel);

/* 1, or 0: the calling thread was interrupted in it. */
static inline int kadapt_channel_enter(struct kadapt_channel *channel)
{
	if (!__libc_single_threaded)
		return kadapt_channel_enter_shared(channel);
	if (channel->owner)
		return 0;
	channel->owner = (uintptr_t)__builtin_thread_pointer();
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return 1;
}

/* 1, or 0: some thread is in it. */
KADAPT_HIDDEN int kadapt_channel_try(struct kadapt_channel *channel);

static inline void kadapt_channel_leave(struct kadapt_channel *channel)
{
	__atomic_store_n(&channel->owner, 0, __ATOMIC_RELEASE);
}

/* The number refers to something else from now on, or soon. */
KADAPT_HIDDEN void kadapt_channel_forget(struct kadapt_channel *channel);

#endif
