/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The output: a stream of frames, read by profiler/rawstream.py.
 *
 *   stream  "KBBVRAW1", interval (number), frames
 *   frame   kind (1 byte), length of the body (4 bytes, little endian), body
 *   number  LEB128, unsigned
 *   text    length (number), bytes
 *
 * Frames are only ever appended, and a frame mentions only what earlier ones defined, so that
 * whatever whole frames were written can be read. Bodies:
 *
 *   B block      id, address, instructions, entry (0 or 1), line, then as texts: function,
 *                directory, file, object
 *   N call name  number, text
 *   R row        thread, start, number of entries, per entry: block id minus the previous one,
 *                times entered, instructions; then number of calls, per entry: number, kind of
 *                descriptor, count, bytes
 *   F facts      threads, processes, shared memory (0 or 1), peak of mapped bytes, rows
 *                at whose end nobody looked at the memory, number of socket families, the
 *                families; a later one replaces an earlier one
 *   S site       id (from 1), line, then as texts: directory, file, the library's function that
 *                was called, function, object
 *   M mapping    thread, id (from 0), kind, NORESERVE (0 or 1), site or 0, bytes, bytes that the
 *                last allocating function was asked for
 *   G grown      thread, mapping, bytes, bytes that the last allocating function was asked for
 *   T touches    thread, number of entries, per entry: mapping, pages, runs, pages of runs that
 *                go on upwards and downwards from touched pages, pages given back
 *   D unmapped   thread, mapping
 *   C fork       thread
 *                M, G, T, D and C belong to the next row of their thread
 *   X exec       empty: the process is about to try to become another program
 *   E end        empty: the run came to its end
 */

#include "pub_tool_libcbase.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"
#include "kbbv.h"

static const HChar magic[] = "KBBVRAW1";

enum { FRAME_HEADER = 5, FLUSH_AT = 1 << 16 };

static Int descriptor = -1;
static UChar *buffer;
static SizeT used;
static SizeT capacity;
static SizeT frame_begin;

static void reserve(SizeT more)
{
	if (used + more <= capacity)
		return;
	capacity = 2 * (used + more);
	buffer = VG_(realloc)("kbbv.stream", buffer, capacity);
}

static void put_bytes(const void *bytes, SizeT length)
{
	reserve(length);
	VG_(memcpy)(buffer + used, bytes, length);
	used += length;
}

void stream_number(ULong value)
{
	reserve(10);
	while (value >= 0x80) {
		buffer[used++] = (UChar)(value | 0x80);
		value >>= 7;
	}
	buffer[used++] = (UChar)value;
}

void stream_text(const HChar *text)
{
	SizeT length = VG_(strlen)(text);

	stream_number(length);
	put_bytes(text, length);
}

Bool stream_open(const HChar *path, ULong interval)
{
	descriptor = VG_(fd_open)(path, VKI_O_WRONLY | VKI_O_CREAT | VKI_O_TRUNC, 0600);
	if (descriptor < 0)
		return False;
	put_bytes(magic, sizeof(magic) - 1);
	stream_number(interval);
	stream_flush();
	return stream_is_open();
}

Bool stream_is_open(void)
{
	return descriptor >= 0;
}

void stream_abandon(void)
{
	if (descriptor >= 0)
		VG_(close)(descriptor);
	descriptor = -1;
	used = 0;
}

void stream_begin(enum frame kind)
{
	UChar header[FRAME_HEADER] = {(UChar)kind};

	frame_begin = used;
	put_bytes(header, sizeof(header));
}

void stream_finish(void)
{
	SizeT length = used - frame_begin - FRAME_HEADER;

	for (UInt i = 0; i < 4; i++)
		buffer[frame_begin + 1 + i] = (UChar)(length >> (8 * i));
	if (used >= FLUSH_AT)
		stream_flush();
}

void stream_flush(void)
{
	SizeT written = 0;

	while (written < used && descriptor >= 0) {
		Int step = VG_(write)(descriptor, buffer + written, (Int)(used - written));

		if (step <= 0) {
			VG_(umsg)("kbbv: cannot write the profile (error %d)\n", -step);
			stream_abandon();
			return;
		}
		written += (SizeT)step;
	}
	used = 0;
}
