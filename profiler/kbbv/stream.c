/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The output: a profile in the form that is written while the program runs (STRM), read by
 * profiler/rawstream.py. kprof.py has the head that it shares with the other form.
 *
 *   file    "\x93KPROF\r\n", version (4 bytes, little endian), "STRM", frames
 *   frame   kind (1 byte), length of the body (4 bytes, little endian), CRC-32 of kind, length
 *           and body (4 bytes, little endian), body
 *   number  LEB128, unsigned
 *   text    length (number), bytes
 *
 * Frames are only ever appended, and a frame mentions only what earlier ones defined, so that
 * whatever whole frames were written can be read. Bodies:
 *
 *   H head       interval, unit (0: instructions, 1: nanoseconds of processor time), backend
 *                (text), process, its parent (0: it was not recorded), then as texts: build-id
 *                (hexadecimal, or empty) and path of the program; number of arguments, these as
 *                texts, the program's name first. It is the first frame, and the only such
 *   B block      id, address, instructions, entry (0 or 1), line, then as texts: function,
 *                directory, file, object, CFG checksum (8 hexadecimal digits, or empty); the
 *                block's index in the function's CFG plus 1 (0: none); 1 where it ends by `pause`,
 *                plus 2 where it is a loop whose rounds change nothing (missing: not known)
 *   N call name  number, text
 *   R row        thread, start, number of entries, per entry: block id minus the previous one,
 *                times entered, instructions; then number of tallies of system calls, per entry:
 *                number, kind of descriptor, site or 0, peer or 0, count, bytes, sequential and
 *                other transfers, pairs of calls one after the other (of which the first may be in
 *                an earlier row), instructions of the thread and nanoseconds between these,
 *                number of sizes, per size: bits that the transferred bytes' number has (at most
 *                33), transfers
 *   O over       thread, number of entries, per entry: block id minus the previous one, times by
 *                which the thread's rows so far have too many: what is read of them has so many
 *                less, in the last rows that have the block
 *   I interval   from here on; twice the one before. Rows of before are put together when the
 *                stream is read: those of a thread that begin between the same two multiples of
 *                it, where less than a block before a multiple counts as at it
 *   L elapsed    nanoseconds of processor time after which the rows that follow began; only where
 *                intervals are of such. It never decreases
 *   F facts      threads, processes, shared memory (0 or 1), peak of mapped bytes, rows
 *                at whose end nobody looked at the memory, number of socket families, the
 *                families; a later one replaces an earlier one
 *   S site       of a call; id (from 1), line, then as texts: directory, file, the library's
 * function that was called, function, object A address    id (from 1), address family, text: a
 * socket's peer M mapping    thread, id (from 0), kind, NORESERVE (0 or 1), site or 0, bytes, bytes
 * that the last allocating function was asked for G grown      thread, mapping, bytes, bytes that
 * the last allocating function was asked for T touches    thread, number of entries, per entry:
 * mapping, pages, runs, pages of runs that go on upwards and downwards from touched pages, pages
 * given back D unmapped   thread, mapping C fork       thread M, G, T, D and C belong to the next
 * row of their thread P past       instructions that the process ran since its fork, of which there
 * is no profile: the program that ran them became this one before its first row was full X exec
 * path of the program that the process becomes, 1 where that has a profile of its own, else 0; or
 * empty E end        exit status, or empty: the run came to its end
 */

#include "pub_tool_libcbase.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_mallocfree.h"
#include "kbbv.h"

static const HChar head[] = "\x93KPROF\r\n\3\0\0\0STRM";

enum { FRAME_HEADER = 9, BEFORE_CHECKSUM = 5, FLUSH_AT = 1 << 16, FLUSH_UNOPENED_AT = 1 << 22 };

struct bytes {
	UChar *at;
	SizeT used;
	SizeT capacity;
};

/* A forked child's file is made when there is something to write into it. */
static enum { CLOSED, UNOPENED, OPEN } state;
static ULong interval;
static struct bytes buffer;
static struct bytes definitions; /* all such frames so far: a forked child needs them, too */
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
	reserve(&buffer, 10);
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

/* What was put aside until now follows the head and what it refers to. */
static void open_file(void)
{
	struct bytes waiting = buffer;

	buffer = (struct bytes){0};
	state = output_open(process_path()) ? OPEN : CLOSED;
	put(&buffer, head, sizeof(head) - 1);
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
