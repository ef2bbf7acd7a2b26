// SPDX-License-Identifier: MIT
/*
 * In the place of fflush(3): what the stream's buffer holds is a record. A stream
 * that is not flushed makes large writes already, which no ring would gain on.
 */
#define _GNU_SOURCE
#include <stddef.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <sys/single_threaded.h>
#include <wchar.h>

#include "append.h"
#include "burst.h"
#include "libkadapt.h"
#include "next.h"
#include "record.h"

/* ferror() of the C library, whose putc_unlocked() knows the flag's neighbours, too. */
#define ERROR_SEEN 0x20

/*
 * These members the C library shows in its header and keeps where they are, because
 * its own putc_unlocked() is compiled into programs.
 */
static size_t buffered(const FILE *stream)
{
	return (size_t)(stream->_IO_write_ptr - stream->_IO_write_base);
}

/*
 * For writing only, with a buffer of bytes in use, which begins where the file's
 * position is: all that fflush() does then is one write(2).
 */
static int is_one_write(FILE *stream)
{
	return __fwritable(stream) && !__freadable(stream) && !__flbf(stream) &&
	       __fbufsize(stream) > 1 && fwide(stream, 0) < 0 && !ferror_unlocked(stream) &&
	       stream->_IO_read_end == stream->_IO_write_base;
}

/* As after that write(2): the C library forgets the offset with each fflush(). */
static void empty_buffer(FILE *stream)
{
	stream->_IO_write_ptr = stream->_IO_write_base;
	stream->_offset = -1;
}

/* As when that write(2) fails: the C library drops the bytes and sets the error flag. */
static void fail_buffer(FILE *stream)
{
	stream->_IO_write_ptr = stream->_IO_write_base;
	stream->_flags |= ERROR_SEEN;
}

/* With the stream locked. */
static enum kadapt_outcome append_buffer(FILE *stream)
{
	size_t size = buffered(stream);
	enum kadapt_outcome outcome;

	if (size - 1 >= KADAPT_RECORD_MAX || !is_one_write(stream))
		return KADAPT_PLAIN;
	outcome = kadapt_record_at_length(stream->_fileno, stream->_IO_write_base, size);
	if (outcome == KADAPT_APPENDED)
		empty_buffer(stream);
	if (outcome == KADAPT_FAILED)
		fail_buffer(stream);
	return outcome;
}

/* Nothing bound and no burst? A stream without a descriptor has a number below 0. */
static int is_off(const FILE *stream)
{
	const struct kadapt_channel *channel = kadapt_channel_of(stream->_fileno);

	return !channel || kadapt_burst_is_off(channel);
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

	if (__libc_single_threaded)
		return append_buffer(stream);
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
