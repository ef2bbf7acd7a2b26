/* SPDX-License-Identifier: MIT */
/*
 * A channel is what the library knows of a descriptor number: the ring that was
 * last bound to it, if any, and how the number is written to. Numbers from
 * KADAPT_CHANNELS on have none, and their calls stay plain.
 *
 * Nothing here is locked, and nothing need be right. Whether a record goes to the
 * descriptor's file is decided by the ring's tail, which the kernel closes when
 * anybody touches the file. What two threads count at a time is at worst a burst
 * that begins a record late.
 */
#ifndef LIBKADAPT_CHANNEL_H
#define LIBKADAPT_CHANNEL_H

#include <stdint.h>

#include "device_file.h"

#define KADAPT_CHANNELS 1024

struct kadapt_channel {
	struct kadapt_ring_header *header; /* of the ring, bound or not any more; or NULL */
	uint64_t begun;			   /* records in that ring ever, when it was bound */
	uint64_t plain;			   /* redirected calls that were made as they are */
	uint32_t streak;		   /* plain calls in a row that could have been appends */
	uint32_t patience;		   /* a streak that long is worth a binding, less 1 */
	uint32_t is_bound;		   /* as far as the program has seen */
} __attribute__((aligned(64)));

/* A child of any kind of fork finds zeroes here: see kadapt_state_begin(). */
extern struct kadapt_channel kadapt_channels[KADAPT_CHANNELS] KADAPT_HIDDEN;

/* Whether this process may have rings. */
extern int kadapt_has_rings KADAPT_HIDDEN;

static inline int kadapt_has_channel(int descriptor)
{
	return (unsigned int)descriptor < KADAPT_CHANNELS;
}

/* The channel, or NULL. */
static inline struct kadapt_channel *kadapt_channel_of(int descriptor)
{
	return kadapt_has_channel(descriptor) ? &kadapt_channels[descriptor] : NULL;
}

/* Once for each use: a handler may give the ring to another channel at any time. */
static inline struct kadapt_ring_header *kadapt_header_of(const struct kadapt_channel *channel)
{
	return __atomic_load_n(&channel->header, __ATOMIC_RELAXED);
}

static inline int kadapt_descriptor_of(const struct kadapt_channel *channel)
{
	return (int)(channel - kadapt_channels);
}

#endif
