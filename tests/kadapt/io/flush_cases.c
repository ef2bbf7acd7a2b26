// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A flush appends to a ring. The oracle is the C library's own fflush(): its file, its results and
 * its errors, for streams of all kinds.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wchar.h>

#include "cases.h"
#include "device.h"
#include "libkadapt.h"
#include "twice.h"

#define RECORDS 1000

static void tell_flush(const struct calls *calls, FILE *stream)
{
	errno = 0;
	tell("flush", calls->flush(stream));
	tell("errno", errno);
}

static void flush_records(const struct calls *calls, FILE *stream, int count)
{
	for (int i = 0; i < count; i++) {
		tell("print", fprintf(stream, "record %d\n", i));
		tell_flush(calls, stream);
	}
}

static int prepare(const char *text)
{
	int file = open_first(0);
	ssize_t size = (ssize_t)strlen(text);

	return file < 0 || write(file, text, (size_t)size) != size || close(file) ? -1 : 0;
}

static const char *mode;

/* Tells the position of the stream after each flush. */
static enum outcome flush_each(const struct calls *calls)
{
	FILE *stream;

	CHECK(prepare("what was there\n") == 0);
	stream = fopen(FIRST, mode);
	CHECK(stream);
	flush_records(calls, stream, RECORDS);
	for (int i = 0; i < 100; i++) {
		flush_records(calls, stream, 5);
		tell("ftell", ftell(stream));
		flush_records(calls, stream, 3);
		tell("lseek", lseek(fileno(stream), 0, SEEK_CUR));
	}
	/* From here on, the C library keeps the offset. */
	flush_records(calls, stream, RECORDS);
	tell("ftell", ftell(stream));
	tell("fclose", fclose(stream));
	return PASSED;
}

static enum outcome test_each(void)
{
	static const struct {
		const char *mode;
		uint64_t least;
	} modes[] = {
	    {"w", 2 * RECORDS - 100}, {"a", 2 * RECORDS - 100}, {"w+", 0}, {"a+", 0}, {"r+", 0}};

	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		mode = modes[i].mode;
		if (twice(flush_each, modes[i].least) == PASSED)
			continue;
		note("mode %s", mode);
		return FAILED;
	}
	return PASSED;
}

/* ---- at random -------------------------------------------------------------------------- */

#define OPERATIONS 1500
#define SEEDS 12

static struct {
	const struct calls *calls;
	FILE *stream;
	uint64_t state;
} random_mix;

static uint32_t any(uint32_t below)
{
	random_mix.state = random_mix.state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(random_mix.state >> 33) % below;
}

static void print_any(uint32_t most)
{
	static char text[40000];
	uint32_t size = any(most);

	memset(text, 'a' + (int)any(26), sizeof(text));
	tell("fwrite", (long)fwrite(text, 1, size, random_mix.stream));
}

static void seek_any(void)
{
	static const int whences[] = {SEEK_SET, SEEK_CUR, SEEK_END};
	int whence = whences[any(3)];
	long offset = whence == SEEK_SET ? any(20000) : -(long)any(50);

	tell("fseek", fseek(random_mix.stream, offset, whence));
}

static void set_position(void)
{
	static fpos_t position;
	static int is_known;

	if (!is_known || any(2))
		tell("fgetpos", fgetpos(random_mix.stream, &position));
	else
		tell("fsetpos", fsetpos(random_mix.stream, &position));
	is_known = 1;
}

static void write_past(void)
{
	int file = fileno(random_mix.stream);

	switch (any(3)) {
	case 0:
		tell("write", write(file, "past", 4));
		break;
	case 1:
		tell("calls", random_mix.calls->write(file, "past", 4));
		break;
	default:
		tell("pwrite", pwrite(file, "past", 4, any(1000)));
	}
}

static void open_again(void)
{
	static const char *const modes[] = {"w", "a", "r+", "w+", "a+"};
	const char *wanted = modes[any(10) % 5 % (any(4) ? 2 : 5)];

	if (any(2)) {
		tell("fclose", fclose(random_mix.stream));
		random_mix.stream = fopen(FIRST, wanted);
	} else {
		random_mix.stream = freopen(FIRST, wanted, random_mix.stream);
	}
	tell("opened", random_mix.stream != NULL);
}

static void flush_any(void)
{
	switch (any(5)) {
	case 0:
		tell("fflush", fflush(random_mix.stream));
		break;
	case 1:
		tell("all", random_mix.calls->flush(NULL));
		break;
	case 2:
		tell("unlocked", random_mix.calls->flush_unlocked(random_mix.stream));
		break;
	default:
		tell_flush(random_mix.calls, random_mix.stream);
	}
}

static void flush_burst(void)
{
	for (uint32_t i = 2 + any(20); i; i--) {
		print_any(100);
		tell_flush(random_mix.calls, random_mix.stream);
	}
}

static void act(void)
{
	switch (any(20)) {
	case 0:
		seek_any();
		break;
	case 1:
		tell("ftell", ftell(random_mix.stream));
		break;
	case 2:
		set_position();
		break;
	case 3:
		write_past();
		break;
	case 4:
		print_any(40000);
		break;
	case 5:
		tell("lseek", lseek(fileno(random_mix.stream), 0, SEEK_CUR));
		break;
	case 6:
		flush_any();
		break;
	case 7:
		rewind(random_mix.stream);
		break;
	case 8:
		if (!any(4))
			open_again();
		break;
	case 9:
		tell("raw seek", lseek(fileno(random_mix.stream), any(5000), SEEK_SET));
		break;
	case 10 ... 12:
		print_any(300);
		break;
	default:
		/* Rings are bound only at the file's end. */
		if (any(2))
			tell("end", fseek(random_mix.stream, 0, SEEK_END));
		flush_burst();
	}
}

static uint64_t seed;

static enum outcome mix(const struct calls *calls)
{
	random_mix.calls = calls;
	random_mix.state = seed;
	random_mix.stream = fopen(FIRST, "w");
	CHECK(random_mix.stream);
	for (int i = 0; i < OPERATIONS; i++) {
		act();
		CHECK(random_mix.stream);
		/* The comparison takes no larger file. */
		if (i % 100 == 0)
			tell("truncate", ftruncate(fileno(random_mix.stream), 1000));
	}
	tell("fputs", fputs("The file is not empty.\n", random_mix.stream) >= 0);
	tell("fclose", fclose(random_mix.stream));
	return PASSED;
}

static enum outcome test_random(void)
{
	for (seed = 1; seed <= SEEDS; seed++)
		if (twice(mix, 200) != PASSED) {
			note("seed %lu", (unsigned long)seed);
			return FAILED;
		}
	return PASSED;
}

/* ---- streams that keep their calls ------------------------------------------------------ */

static enum outcome flush_with_buffer(const struct calls *calls, int kind, size_t size)
{
	FILE *stream = fopen(FIRST, "w");
	uint64_t before = appends();

	CHECK(stream && setvbuf(stream, NULL, kind, size) == 0);
	flush_records(calls, stream, RECORDS);
	for (int i = 0; i < 100; i++) {
		tell("puts", fputs("two\nlines without an end", stream));
		tell_flush(calls, stream);
	}
	CHECK(fclose(stream) == 0);
	CHECK(appends() == before);
	return PASSED;
}

static enum outcome flush_line_buffered(const struct calls *calls)
{
	return flush_with_buffer(calls, _IOLBF, BUFSIZ);
}

static enum outcome flush_unbuffered(const struct calls *calls)
{
	return flush_with_buffer(calls, _IONBF, 0);
}

static enum outcome flush_wide(const struct calls *calls)
{
	FILE *stream = fopen(FIRST, "w");
	uint64_t before = appends();

	for (int i = 0; i < RECORDS; i++) {
		tell("print", fwprintf(stream, L"wide %d\n", i));
		tell_flush(calls, stream);
		tell("ftell", ftell(stream));
	}
	CHECK(fclose(stream) == 0);
	CHECK(appends() == before);
	return PASSED;
}

/* A flush gives back what the stream has read ahead. */
static enum outcome flush_while_reading(const struct calls *calls)
{
	char text[16];
	FILE *stream;

	CHECK(prepare("0123456789012345678901234567890123456789") == 0);
	stream = fopen(FIRST, "r+");
	for (int i = 0; i < 200; i++) {
		tell("fread", (long)fread(text, 1, 1 + i % 7, stream));
		tell_flush(calls, stream);
		tell("lseek", lseek(fileno(stream), 0, SEEK_CUR));
		fseek(stream, 0, SEEK_CUR);
		tell("print", fprintf(stream, "<%d>", i));
		tell_flush(calls, stream);
		if (i % 3 == 0)
			rewind(stream);
		else
			fseek(stream, 0, SEEK_CUR);
	}
	CHECK(fclose(stream) == 0);
	return PASSED;
}

static enum outcome test_kept(void)
{
	CHECK(twice(flush_line_buffered, 0) == PASSED);
	CHECK(twice(flush_unbuffered, 0) == PASSED);
	CHECK(twice(flush_wide, 0) == PASSED);
	CHECK(twice(flush_while_reading, 0) == PASSED);
	return PASSED;
}

/* Buffers of other sizes and at other places; the program gives one of them. */
static enum outcome flush_other_buffers(const struct calls *calls)
{
	static char own[100];

	for (int i = 0; i < 4; i++) {
		FILE *stream = fopen(FIRST, "a");

		if (i == 0)
			setvbuf(stream, own, _IOFBF, sizeof(own));
		if (i == 1)
			setvbuf(stream, NULL, _IOFBF, 1 << 16);
		if (i == 2)
			setvbuf(stream, own, _IOFBF, 3);
		flush_records(calls, stream, RECORDS);
		for (int j = 0; j < 50; j++) {
			tell("print", fprintf(stream, "%*d\n", 3 * j, j));
			tell_flush(calls, stream);
		}
		CHECK(fclose(stream) == 0);
	}
	return PASSED;
}

static enum outcome test_buffers(void)
{
	return twice(flush_other_buffers, RECORDS);
}

/* Streams without a descriptor, which have some number in its place. */
static enum outcome flush_memory(const struct calls *calls)
{
	char *text = NULL, room[100] = "";
	FILE *file, *memory, *fixed;
	size_t size = 0;

	close(STDIN_FILENO);
	file = fopen(FIRST, "w");
	CHECK(file && fileno(file) == STDIN_FILENO);
	memory = open_memstream(&text, &size);
	fixed = fmemopen(room, sizeof(room), "w");
	CHECK(memory && fixed);
	for (int i = 0; i < 100; i++) {
		flush_records(calls, file, 5);
		tell("puts", fputs("m", memory));
		tell_flush(calls, memory);
		tell("size", (long)size);
		rewind(fixed);
		tell("puts", fputs("fixed", fixed));
		tell_flush(calls, fixed);
		tell("room", strcmp(room, "fixed"));
	}
	CHECK(fclose(memory) == 0 && size == 100);
	CHECK(fclose(file) == 0);
	return PASSED;
}

static enum outcome test_memory(void)
{
	return twice(flush_memory, 300);
}

const struct test_case flush_cases[] = {
    {"flush_each", "each record is flushed, in all modes", test_each},
    {"flush_random", "flushes among all else that is done to a stream", test_random},
    {"flush_kept", "line-buffered, unbuffered, wide and read-write streams", test_kept},
    {"flush_buffers", "buffers of other sizes", test_buffers},
    {"flush_memory", "streams without a descriptor", test_memory},
    {0},
};
