/* SPDX-License-Identifier: MIT */
/* clang-format off */
/*
 * A profile in the form that is written while the program runs (STRM). kbbv and the runtime write
 * it; the reader is profiler/stream/rawstream.py. kprof.py describes the head, which both forms of
 * a profile share.
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
 *   Y layout     number of a unit of the program, then as texts: function, file, checksum of its
 *                CFG at the compiler's pass `profile`; number of blocks, per block: index in that
 *                CFG, times entered since the program began. A later frame of the same unit and
 *                function replaces an earlier one
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
#ifndef KADENCE_STREAM_FORMAT_H
#define KADENCE_STREAM_FORMAT_H

#define STREAM_HEAD "\x93KPROF\r\n\3\0\0\0STRM"
#define STREAM_HEAD_BYTES (sizeof(STREAM_HEAD) - 1)
/* The beginning of the head that all profiles have. */
#define PROFILE_MAGIC_BYTES 8

enum {
	FRAME_HEADER = 9,	/* kind, length, CRC-32 */
	BEFORE_CHECKSUM = 5,	/* kind, length */
	LONGEST_NUMBER = 10,	/* bytes of a LEB128 number of 64 bits */
};

enum frame {
	FRAME_HEAD = 'H',
	FRAME_BLOCK = 'B',
	FRAME_ROW = 'R',
	FRAME_OVER = 'O',
	FRAME_INTERVAL = 'I',
	FRAME_ELAPSED = 'L',
	FRAME_CALL_NAME = 'N',
	FRAME_LAYOUT = 'Y',
	FRAME_FACTS = 'F',
	FRAME_SITE = 'S',
	FRAME_MAPPING = 'M',
	FRAME_GROWN = 'G',
	FRAME_TOUCHES = 'T',
	FRAME_UNMAPPED = 'D',
	FRAME_FORK = 'C',
	FRAME_PAST = 'P',
	FRAME_PEER = 'A',
	FRAME_EXEC = 'X',
	FRAME_END = 'E',
};

#endif
/* clang-format on */
