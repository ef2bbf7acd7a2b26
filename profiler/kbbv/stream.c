/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The output: frames of a profile (format/stream_format.h). */

#include "pub_tool_libcbase.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_mallocfree.h"
#include "kbbv.h"

enum { FLUSH_AT = 1 << 16, FLUSH_UNOPENED_AT = 1 << 22 };

struct bytes {
	UChar *at;
	SizeT used;
	SizeT capacity;
};

/* UNOPENED: a forked child creates its file only when there is something to write. */
static enum { CLOSED, UNOPENED, OPEN } state;
static ULong interval;
static struct bytes buffer;
static struct bytes definitions; /* all defining frames so far: a forked child needs them, too */
static SizeT frame_begin;

static void reserve(struct bytes *bytes, SizeT more)
{
	if (bytes->used + more <= bytes->capacity)
		return;
	bytes->capacity = 2 * (bytes->used + more);
	bytes->at = VG_(realloc)("kbbv.stream", bytes->at, bytes->capacity);
}

static void put(struct bytes *bytes, const void *more, SizeT length)
{
	reserve(bytes, length);
	VG_(memcpy)(bytes->at + bytes->used, more, length);
	bytes->used += length;
}

void stream_number(ULong value)
{
	reserve(&buffer, LONGEST_NUMBER);
	while (value >= 0x80) {
		buffer.at[buffer.used++] = (UChar)(value | 0x80);
		value >>= 7;
	}
	buffer.at[buffer.used++] = (UChar)value;
}

void stream_text(const HChar *text)
{
	SizeT length = VG_(strlen)(text);

	stream_number(length);
	put(&buffer, text, length);
}

/* Writes the head, then the definitions, then the pending frames, which refer to both. */
static void open_file(void)
{
	struct bytes waiting = buffer;

	buffer = (struct bytes){0};
	state = output_open(process_path()) ? OPEN : CLOSED;
	put(&buffer, STREAM_HEAD, STREAM_HEAD_BYTES);
	head_write(interval, process_parent());
	put(&buffer, definitions.at, definitions.used);
	put(&buffer, waiting.at, waiting.used);
	VG_(free)(waiting.at);
}

Bool stream_open(ULong instructions_per_row)
{
	interval = instructions_per_row;
	open_file();
	stream_flush();
	return stream_is_open();
}

void stream_forked(void)
{
	output_leave();
	buffer.used = 0;
	if (state == OPEN)
		state = UNOPENED;
}

void stream_discard(void)
{
	output_discard();
	buffer.used = 0;
	state = CLOSED;
}

Bool stream_is_open(void)
{
	return state != CLOSED;
}

void stream_publish(void)
{
	stream_flush();
	output_publish();
}

void stream_begin(enum frame kind)
{
	UChar header[FRAME_HEADER] = {(UChar)kind};

	frame_begin = buffer.used;
	put(&buffer, header, sizeof(header));
}

static void put_little_endian(UChar *place, ULong value)
{
	for (UInt i = 0; i < 4; i++)
		place[i] = (UChar)(value >> (8 * i));
}

static void keep_definition(void)
{
	UChar kind = buffer.at[frame_begin];

	if (kind != FRAME_BLOCK && kind != FRAME_CALL_NAME && kind != FRAME_SITE &&
	    kind != FRAME_PEER)
		return;
	put(&definitions, buffer.at + frame_begin, buffer.used - frame_begin);
	if (state == UNOPENED)
		buffer.used = frame_begin;
}

void stream_finish(void)
{
	SizeT length = buffer.used - frame_begin - FRAME_HEADER;
	UChar *frame = buffer.at + frame_begin;
	UInt sum;

	put_little_endian(frame + 1, length);
	sum = checksum(checksum(0, frame, BEFORE_CHECKSUM), frame + FRAME_HEADER, length);
	put_little_endian(frame + BEFORE_CHECKSUM, sum);
	keep_definition();
	if (buffer.used >= (state == OPEN ? FLUSH_AT : FLUSH_UNOPENED_AT))
		stream_flush();
}

void stream_flush(void)
{
	if (state == UNOPENED)
		open_file();
	if (state == OPEN)
		output_write(buffer.at, buffer.used);
	if (!output_is_open())
		state = CLOSED;
	buffer.used = 0;
}
