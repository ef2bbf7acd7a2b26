/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clang-format off */
/*
 * The output: a profile in the form that is written while the program runs (STRM). The reader is
 * profiler/stream/rawstream.py. kprof.py describes the head, which both forms of a profile share.
 *
 *   file    "\x93KPROF\r\n", version (4 bytes, little endian), "STRM", frames
 *   frame   kind (1 byte), length of the body (4 bytes, little endian), CRC-32 of kind, length
 *           and body (4 bytes, little endian), body
 *   number  LEB128, unsigned
 *   text    length (number), bytes
 *
 * Frames are only ever appended, and a frame refers only to things that earlier frames defined.
 * A reader can therefore read all frames that were written completely. Bodies:
 *
 *   H head       interval, unit (0: instructions, 1: nanoseconds of processor time), backend
 *                (text), process id, parent's process id (0: the parent was not recorded), then
 *                as texts: build-id (hexadecimal, or empty) and path of the program; number of
 *                arguments, these as texts, the program's name first. The head is the first
 *                frame, and there is only one
 *   B block      id, address, instructions, entry (0 or 1), line, then as texts: function,
 *                directory, file, object, CFG checksum (8 hexadecimal digits, or empty); the
 *                block's index in the function's CFG plus 1 (0: none); 1 if the block ends with
 *                `pause`, plus 2 if it is a loop whose rounds change nothing (missing: unknown)
 *   N call name  number, text
 *   R row        thread, start, number of entries, per entry: block id minus the previous one,
 *                times entered, instructions; then number of tallies of system calls, per tally:
 *                number, kind of descriptor, site or 0, peer or 0, count, bytes, sequential and
 *                other transfers, pairs of consecutive calls (the first call of a pair may be in
 *                an earlier row), instructions of the thread and nanoseconds between the calls
 *                of these pairs, number of sizes, per size: number of bits in the count of
 *                transferred bytes (at most 33), transfers
 *   O over       thread, number of entries, per entry: block id minus the previous one, times
 *                entered that the thread's rows so far have too many. The reader subtracts them
 *                from the last rows that have the block
 *   I interval   the interval from here on, twice the one before. When reading the stream, the
 *                reader merges a thread's earlier rows that begin between the same two multiples
 *                of the new interval. A row that begins less than a block before a multiple
 *                counts as beginning at the multiple
 *   L elapsed    nanoseconds of processor time after which the rows that follow began; only if
 *                intervals are in processor time. The number never decreases
 *   F facts      threads, processes, shared memory (0 or 1), peak of mapped bytes, rows
 *                at whose end the memory was not looked at, number of socket families, the
 *                families; a later frame replaces an earlier one
 *   S site       site of a call: id (from 1), line, then as texts: directory, file, the library's
 *                function that was called, function, object
 *   A address    a socket's peer: id (from 1), address family, text
 *   M mapping    thread, id (from 0), kind, NORESERVE (0 or 1), site or 0, bytes, bytes that the
 *                last allocating function was asked for
 *   G grown      thread, mapping, bytes, bytes that the last allocating function was asked for
 *   T touches    thread, number of entries, per entry: mapping, pages, runs, pages of runs that
 *                continue upwards and downwards from touched pages, pages given back
 *   D unmapped   thread, mapping
 *   C fork       thread
 *                M, G, T, D and C belong to the next row of their thread
 *   P past       instructions that the process ran since its fork and that no profile has: the
 *                program that ran them was replaced by this one before its first row was full
 *   X exec       path of the program that replaces this one, 1 if that program has its own
 *                profile, else 0; or an empty body
 *   E end        exit status, or an empty body if the status is unknown. The frame says that
 *                the run came to its end
 */
/* clang-format on */

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

/* Writes the head, then the definitions, then the pending frames, which refer to both. */
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
