// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <wchar.h>

#include "append.h"
#include "burst.h"
#include "next.h"
#include "pool.h"
#include "stream.h"

/* Streams with smaller buffers are left alone; theirs is 4096 bytes mostly. */
#define BUFFER_MIN 512

/* The descriptor's channel, or NULL; fileno() is for programs, and interposed. */
static struct kadapt_channel *channel_behind(FILE *stream)
{
	return kadapt_channel_of(kadapt_stream_descriptor(stream));
}

static int is_eligible(FILE *stream)
{
	return __fwritable(stream) && !__freadable(stream) && !__flbf(stream) &&
	       __fbufsize(stream) >= BUFFER_MIN && fwide(stream, 0) < 0;
}

static void bind_stream(struct kadapt_channel *channel, FILE *stream)
{
	/* Nothing goes into a ring before the program has been told of what was lost. */
	if (kadapt_header_of(channel) || channel->error)
		return;
	channel->stream_buffer = __fbufsize(stream);
	kadapt_bind(channel, NULL, stream);
}

/* In a ring is what comes after what the buffer held. */
static void consider_ring(struct kadapt_channel *channel, FILE *stream)
{
	if (!is_eligible(stream) || kadapt_next_fflush(stream))
		return;
	if (!kadapt_channel_enter(channel))
		return;
	kadapt_end_if_let_go(channel);
	bind_stream(channel, stream);
	kadapt_channel_leave(channel);
}

/* Each buffer full is a call that a ring would have saved. */
void kadapt_stream_buffered(FILE *stream, size_t size)
{
	struct kadapt_channel *channel = channel_behind(stream);

	if (!channel)
		return;
	channel->plain++;
	channel->stream_bytes += size;
	if (channel->stream_bytes < BUFSIZ / 2)
		return;
	channel->streak += (uint32_t)(channel->stream_bytes / (BUFSIZ / 2));
	channel->stream_bytes = 0;
	if (kadapt_burst_is_on(channel))
		consider_ring(channel, stream);
}

/*
 * Calls that were not redirected, or were too large, filled the buffer meanwhile.
 * The thread is not cancelled in the midst of it, where it is inside the channel.
 */
static int empty_buffer(struct kadapt_channel *channel)
{
	int is_empty, state;

	if (kadapt_stream_is_empty(channel->stream))
		return 1;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	is_empty = !kadapt_settle(channel, 0) && !kadapt_next_fflush_unlocked(channel->stream);
	pthread_setcancelstate(state, NULL);
	return is_empty;
}

int kadapt_stream_is_ready(struct kadapt_channel *channel, size_t size)
{
	return kadapt_has_rings && channel->stream && !channel->error && empty_buffer(channel) &&
	       kadapt_make_room(channel, size);
}

/* As kadapt_stream_is_ready(), where there is nothing to be done for it. */
static int is_ready_at_once(const struct kadapt_channel *channel, size_t size)
{
	return channel->other && channel->stream && size - 1 < KADAPT_RECORD_MAX &&
	       kadapt_stream_is_empty(channel->stream) && kadapt_fits(channel->other, size);
}

static int make_ready(struct kadapt_channel *channel, size_t size)
{
	kadapt_end_if_let_go(channel);
	return kadapt_stream_is_ready(channel, size);
}

static int went_in(struct kadapt_channel *channel, const struct kadapt_record *record)
{
	if (!is_ready_at_once(channel, record->size) && !make_ready(channel, record->size))
		return 0;
	if (!kadapt_put(channel, record))
		return 0;
	channel->stream_moved = 1;
	return 1;
}

enum kadapt_outcome kadapt_stream_try(FILE *stream, const struct kadapt_record *record)
{
	struct kadapt_channel *channel = kadapt_stream_channel(stream);
	int appended;

	if (!channel)
		return KADAPT_PLAIN;
	if (!kadapt_channel_enter(channel))
		return kadapt_before_plain(channel, 0);
	appended = went_in(channel, record);
	kadapt_channel_leave(channel);
	return appended ? KADAPT_APPENDED : kadapt_before_plain(channel, 0);
}

int kadapt_stream_recover(FILE *stream, size_t size)
{
	struct kadapt_channel *channel = &kadapt_channels[kadapt_stream_descriptor(stream)];
	int appended = kadapt_append_recover(channel, channel->other, size);

	kadapt_channel_leave(channel);
	return appended;
}

/* As the C library's own writing of a buffer: it waits for the other end. */
static void settle_to_the_end(struct kadapt_channel *channel)
{
	channel->streak = 0;
	channel->stream_bytes = 0;
	while (kadapt_settle(channel, 0) == -EINTR)
		;
}

static void settle_streams(void)
{
	for (int i = 0; i < KADAPT_CHANNELS; i++)
		if (kadapt_channels[i].stream)
			settle_to_the_end(&kadapt_channels[i]);
}

void kadapt_stream_settle_now(FILE *stream)
{
	struct kadapt_channel *channel = stream ? channel_behind(stream) : NULL;

	if (!stream)
		settle_streams();
	else if (channel)
		settle_to_the_end(channel);
}

/*
 * The C library remembers the offset of a stream that was asked for it once. It
 * forgets it when told to go there.
 */
static void tell_offset(struct kadapt_channel *channel, FILE *stream)
{
	int saved_errno = errno;
	off_t offset;

	if (__fpending(stream))
		kadapt_next_fflush(stream);
	offset = syscall(SYS_lseek, kadapt_descriptor_of(channel), 0, SEEK_CUR);
	if (offset >= 0)
		kadapt_next_fseeko(stream, offset, SEEK_SET);
	errno = saved_errno;
}

void kadapt_stream_locate_now(FILE *stream)
{
	struct kadapt_channel *channel = channel_behind(stream);

	if (!channel)
		return;
	settle_to_the_end(channel);
	if (!channel->stream_moved)
		return;
	channel->stream_moved = 0;
	tell_offset(channel, stream);
}

/* As the C library would have met it, with the signal of a broken pipe. */
static int take_stream_error(struct kadapt_channel *channel)
{
	int error = channel->error;

	channel->error = 0;
	if (error == EPIPE)
		raise(SIGPIPE);
	return error;
}

int kadapt_stream_flush(FILE *stream, int (*plain)(FILE *))
{
	struct kadapt_channel *channel;
	int error, result;

	if (!kadapt_has_rings)
		return plain(stream);
	kadapt_stream_settle_now(stream);
	channel = stream ? channel_behind(stream) : NULL;
	error = channel && channel->stream == stream ? take_stream_error(channel) : 0;
	result = plain(stream);
	if (!error)
		return result;
	errno = error;
	return EOF;
}

int kadapt_stream_close(FILE *stream)
{
	struct kadapt_channel *channel = channel_behind(stream);
	int error;

	if (!channel)
		return 0;
	kadapt_release(channel);
	error = take_stream_error(channel);
	kadapt_channel_forget(channel);
	return error;
}

int kadapt_stream_has_failed(FILE *stream)
{
	const struct kadapt_channel *channel = kadapt_has_rings ? channel_behind(stream) : NULL;

	return channel && channel->stream_failed;
}

void kadapt_stream_clear(FILE *stream)
{
	struct kadapt_channel *channel = kadapt_has_rings ? channel_behind(stream) : NULL;

	if (channel)
		channel->stream_failed = 0;
}
