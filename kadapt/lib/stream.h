/* SPDX-License-Identifier: MIT */
/*
 * Records of the C library's streams. A stream that is written through enough
 * gets a ring in the place of its own buffer, which then stays empty. It must be
 * for writing only, and fully buffered: one that is not publishes each line or
 * byte, and so goes on as it is.
 */
#ifndef LIBKADAPT_STREAM_H
#define LIBKADAPT_STREAM_H

#include "io.h"

/* As kadapt_try(), with the stream locked; a plain call may follow. */
KADAPT_HIDDEN enum kadapt_outcome kadapt_stream_try(FILE *stream,
						    const struct kadapt_record *record);

/* So many bytes went into the stream's own buffer; is it time for a ring? */
KADAPT_HIDDEN void kadapt_stream_buffered(FILE *stream, size_t size);

/* kadapt_append_recover(), and the thread leaves the channel. */
KADAPT_HIDDEN int kadapt_stream_recover(FILE *stream, size_t size);

/* The stream's buffer is empty and its ring has room for so much; 1 or 0. From inside. */
KADAPT_HIDDEN int kadapt_stream_is_ready(struct kadapt_channel *channel, size_t size);

/* What the ring holds goes out; NULL is every stream. */
KADAPT_HIDDEN void kadapt_stream_settle_now(FILE *stream);

/* The same, and the stream learns where in its file it is. */
KADAPT_HIDDEN void kadapt_stream_locate_now(FILE *stream);

/*
 * As fflush(): what the ring holds goes out, then what the buffer holds; EOF
 * also for an error that was kept.
 */
KADAPT_HIDDEN int kadapt_stream_flush(FILE *stream, int (*plain)(FILE *));

/* The stream is about to be closed; 0, or the errno kept for it. */
KADAPT_HIDDEN int kadapt_stream_close(FILE *stream);

/* Has a record of the stream been lost to an error? */
KADAPT_HIDDEN int kadapt_stream_has_failed(FILE *stream);
KADAPT_HIDDEN void kadapt_stream_clear(FILE *stream);

/*
 * These members the C library shows in its header and keeps where they are, because
 * its own putc_unlocked() is compiled into programs. A stream without a descriptor
 * has 0 or less here, so a channel's stream is to be compared, too.
 */
static inline int kadapt_stream_descriptor(const FILE *stream)
{
	return stream->_fileno;
}

/* Is nothing in the own buffer of the stream, which is not a wide one? */
static inline int kadapt_stream_is_empty(const FILE *stream)
{
	return stream->_IO_write_ptr == stream->_IO_write_base;
}

/* The channel of the stream, where it has a ring now; else NULL. */
static inline struct kadapt_channel *kadapt_stream_channel(const FILE *stream)
{
	struct kadapt_channel *channel =
	    kadapt_bound ? kadapt_channel_of(kadapt_stream_descriptor(stream)) : NULL;

	return channel && channel->stream == stream ? channel : NULL;
}

/* Where there are threads to lock it against; to be told when it is unlocked. */
static inline int kadapt_stream_lock(FILE *stream)
{
	if (__libc_single_threaded)
		return 0;
	flockfile(stream);
	return 1;
}

static inline void kadapt_stream_unlock(FILE *stream, int was_locked)
{
	if (was_locked)
		funlockfile(stream);
}

static inline void kadapt_stream_settle(FILE *stream)
{
	if (__builtin_expect(kadapt_bound != 0, 0))
		kadapt_stream_settle_now(stream);
}

static inline void kadapt_stream_locate(FILE *stream)
{
	if (__builtin_expect(kadapt_has_rings, 0))
		kadapt_stream_locate_now(stream);
}

#endif
