// SPDX-License-Identifier: MIT
/*
 * The functions that replace fflush(3): the contents of the stream's buffer become a
 * record. A stream that is never flushed makes large writes, for which a ring gains
 * nothing.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <sys/single_threaded.h>
#include <wchar.h>

#include "calls/next.h"
#include "libkadapt.h"
#include "ring/append.h"
#include "ring/burst.h"
#include "ring/record.h"

/* The C library's error flag, part of its binary interface. */
#define ERROR_SEEN 0x20

/*
 * The C library's header has these members, and they never move, because programs
 * contain its inline putc_unlocked().
 */
static size_t buffered(const FILE *stream)
{
	return (size_t)(stream->_IO_write_ptr - stream->_IO_write_base);
}

/*
 * Whether fflush() would make one write(2) and nothing else: the stream is open for
 * writing only, has a buffer of bytes, and the buffer begins at the file's position.
 */
static int is_one_write(FILE *stream)
{
	return __fwritable(stream) && !__freadable(stream) && !__flbf(stream) &&
	       __fbufsize(stream) > 1 && fwide(stream, 0) < 0 && !ferror_unlocked(stream) &&
	       stream->_IO_read_end == stream->_IO_write_base;
}

/* As the C library does after that write(2): each fflush() forgets the offset. */
static void empty_buffer(FILE *stream)
{
	stream->_IO_write_ptr = stream->_IO_write_base;
	stream->_offset = -1;
}

/* As the C library does when that write(2) fails. */
static void fail_buffer(FILE *stream)
{
	stream->_IO_write_ptr = stream->_IO_write_base;
	stream->_flags |= ERROR_SEEN;
}

/* The caller has locked the stream. */
static enum kadapt_outcome append_buffer(FILE *stream)
{
	size_t size = buffered(stream);
	enum kadapt_outcome outcome;

	if (size - 1 >= KADAPT_RECORD_MAX || !is_one_write(stream))
		return KADAPT_PLAIN;
	outcome = kadapt_record_locked(stream->_fileno, stream->_IO_write_base, size);
	if (outcome == KADAPT_APPENDED)
		empty_buffer(stream);
	if (outcome == KADAPT_FAILED)
		fail_buffer(stream);
	return outcome;
}

/* A stream without a descriptor has a negative number, and so no slot. */
static int is_off(const FILE *stream)
{
	const struct kadapt_slot *slot = kadapt_slot_of(stream->_fileno);

	return !slot || kadapt_burst_is_off(slot);
}

static int flush_plainly(FILE *stream, int (*plain)(FILE *))
{
	size_t size = buffered(stream);
	int result = plain(stream);

	kadapt_burst_plain(stream->_fileno, !result && size - 1 < KADAPT_RECORD_MAX);
	return result;
}

static enum kadapt_outcome append_locked(FILE *stream)
{
	enum kadapt_outcome outcome;

	if (__libc_single_threaded ||
	    __fsetlocking(stream, FSETLOCKING_QUERY) == FSETLOCKING_BYCALLER)
		return append_buffer(stream);
	/* Before the lock is taken, because a cancelled thread would keep it. */
	pthread_testcancel();
	flockfile(stream);
	outcome = append_buffer(stream);
	funlockfile(stream);
	return outcome;
}

static int flush(FILE *stream, enum kadapt_outcome (*append)(FILE *), int (*plain)(FILE *))
{
	enum kadapt_outcome outcome = KADAPT_PLAIN;

	if (!stream || !kadapt_has_rings)
		return plain(stream);
	if (!is_off(stream))
		outcome = append(stream);
	if (outcome == KADAPT_PLAIN)
		return flush_plainly(stream, plain);
	return outcome == KADAPT_FAILED ? EOF : 0;
}

int kadapt_fflush(FILE *stream)
{
	return flush(stream, append_locked, kadapt_next_fflush);
}

int kadapt_fflush_unlocked(FILE *stream)
{
	return flush(stream, append_buffer, kadapt_next_fflush_unlocked);
}
