/* SPDX-License-Identifier: MIT */
/*
 * The append to a stream's ring: what a record costs when the thread is alone, the
 * ring is bound for this stream and has room, and the stream's own buffer is empty.
 */
#ifndef LIBKADAPT_STREAM_APPEND_H
#define LIBKADAPT_STREAM_APPEND_H

#include "append.h"
#include "stream.h"

/* The channel, or NULL: the short way is closed. */
static inline __attribute__((always_inline)) struct kadapt_channel *
kadapt_stream_for_short(const FILE *stream, size_t size)
{
	int descriptor = kadapt_stream_descriptor(stream);
	struct kadapt_channel *channel = &kadapt_channels[(unsigned int)descriptor];

	if (!kadapt_is_short(descriptor, size))
		return NULL;
	/* Lest its address be computed anew from the descriptor for each use. */
	__asm__("" : "+r"(channel));
	return channel->stream == stream && kadapt_stream_is_empty(stream) ? channel : NULL;
}

/*
 * The record, and the line's end if it is one. After RECOVER the thread is still
 * inside the channel. A kept error needs no look: with it the kernel let go, so
 * that nothing fits.
 */
static inline __attribute__((always_inline)) enum kadapt_short
kadapt_stream_append_short(FILE *stream, const char *record, size_t size, int is_line)
{
	const size_t bytes = size + (is_line ? 1 : 0);
	struct kadapt_channel *channel = kadapt_stream_for_short(stream, bytes);
	struct kadapt_ring_header *header;
	struct kadapt_slot slot;

	if (!channel)
		return KADAPT_SHORT_NOTHING;
	header = channel->other;
	slot = kadapt_short_begin(channel, header, bytes);
	if (!slot.is_open)
		return KADAPT_SHORT_NOTHING;
	if (!is_line || size)
		kadapt_copy_short(slot.place, record, size);
	if (is_line)
		slot.place[size] = '\n';
	channel->stream_moved = 1;
	return kadapt_short_end(channel, header, slot.end);
}

/* The same for callers that have a frame: 1, or 0 with nothing done. */
static inline __attribute__((always_inline)) int
kadapt_stream_append(FILE *stream, const char *record, size_t size, int is_line)
{
	switch (kadapt_stream_append_short(stream, record, size, is_line)) {
	case KADAPT_SHORT_DONE:
		return 1;
	case KADAPT_SHORT_RECOVER:
		return kadapt_stream_recover(stream, size + (is_line ? 1 : 0));
	default:
		return 0;
	}
}

#endif
