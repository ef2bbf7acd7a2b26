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
 * It is written under another name beside its own, and gets that with the first row: what was
 * there before is not lost by a program that can't be started.
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
 *                block's index in the function's CFG plus 1 (0: none)
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
 *   E end        exit status, or empty: the run came to its end
 */

#include "pub_tool_libcbase.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_mallocfree.h"
#include "kbbv.h"

/* Declared as in Valgrind's pub_core_libcfile.h, and exported by libcoregrind. */
extern Int VG_(safe_fd)(Int descriptor);

static const HChar head[] = "\x93KPROF\r\n\3\0\0\0STRM";

enum { FRAME_HEADER = 9, BEFORE_CHECKSUM = 5, FLUSH_AT = 1 << 16 };

static Int descriptor = -1;
static const HChar *final_path;
static HChar *temporary_path; /* NULL once the profile has its name */
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

static void complain(Int error)
{
	VG_(umsg)("kbbv: cannot write the profile (error %d)\n", error);
	stream_abandon();
}

Bool stream_open(const HChar *path, ULong interval, UInt parent)
{
	final_path = path;
	temporary_path = VG_(malloc)("kbbv.path", VG_(strlen)(path) + sizeof(".4294967295.new"));
	VG_(sprintf)(temporary_path, "%s.%d.new", path, VG_(getpid)());
	descriptor = VG_(fd_open)(temporary_path, VKI_O_WRONLY | VKI_O_CREAT | VKI_O_TRUNC, 0666);
	if (descriptor < 0)
		return False;
	descriptor = VG_(safe_fd)(descriptor);
	put_bytes(head, sizeof(head) - 1);
	head_write(interval, parent);
	stream_flush();
	return stream_is_open();
}

/* Gives the profile its name, now that there is something in it. */
void stream_publish(void)
{
	stream_flush();
	if (!temporary_path || !stream_is_open())
		return;
	if (VG_(rename)(temporary_path, final_path) != 0)
		complain(VKI_EACCES);
	VG_(free)(temporary_path);
	temporary_path = NULL;
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

static void put_little_endian(UChar *place, ULong value)
{
	for (UInt i = 0; i < 4; i++)
		place[i] = (UChar)(value >> (8 * i));
}

void stream_finish(void)
{
	SizeT length = used - frame_begin - FRAME_HEADER;
	UChar *frame = buffer + frame_begin;
	UInt sum;

	put_little_endian(frame + 1, length);
	sum = checksum(checksum(0, frame, BEFORE_CHECKSUM), frame + FRAME_HEADER, length);
	put_little_endian(frame + BEFORE_CHECKSUM, sum);
	if (used >= FLUSH_AT)
		stream_flush();
}

void stream_flush(void)
{
	SizeT written = 0;

	while (written < used && descriptor >= 0) {
		Int step = VG_(write)(descriptor, buffer + written, (Int)(used - written));

		if (step <= 0) {
			complain(-step);
			return;
		}
		written += (SizeT)step;
	}
	used = 0;
}
