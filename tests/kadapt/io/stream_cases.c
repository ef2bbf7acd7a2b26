// SPDX-License-Identifier: GPL-2.0-or-later
/* The C library's streams. What the plain functions would have done is the oracle. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "device.h"
#include "io_count.h"
#include "libkadapt.h"
#include "sink.h"

static uint64_t appends(void)
{
	struct kadapt_io_totals now;

	kadapt_io_count(&now);
	return now.appends;
}

#define LINE "a line of forty characters, more or less\n"

/* Enough for the stream to be given a ring; 0 or -1. */
static int fill_stream(FILE *stream)
{
	uint64_t before = appends();

	for (int i = 0; i < 1000; i++)
		if (kadapt_fputs(LINE, stream) < 0)
			return -1;
	return appends() - before > 100 ? 0 : -1;
}

static FILE *open_stream(struct sink *sink, const char *mode)
{
	if (sink_open(sink, SINK_FILE))
		return NULL;
	close(sink->writer);
	return fopen(sink->path, mode);
}

static enum outcome test_order(void)
{
	char expected[400], text[400];
	struct sink sink;
	FILE *stream = open_stream(&sink, "w");

	CHECK(stream && fill_stream(stream) == 0);
	CHECK(kadapt_fprintf(stream, "%d %s\n", 42, "answers") == 11);
	CHECK(fprintf(stream, "%d plain\n", 43) == 9);
	CHECK(kadapt_fwrite("block", 5, 1, stream) == 1);
	CHECK(kadapt_fputc('\n', stream) == '\n');
	CHECK(fputs("plain\n", stream) >= 0);
	CHECK(putc_unlocked('u', stream) == 'u');
	CHECK(kadapt_putc('v', stream) == 'v');
	CHECK(fwrite("w\n", 1, 2, stream) == 2);
	CHECK(kadapt_fprintf(stream, "%300s|", "wide") == 301);
	CHECK(fclose(stream) == 0);
	snprintf(expected, sizeof(expected), "42 answers\n43 plain\nblock\nplain\nuvw\n%300s|",
		 "wide");
	stream = fopen(sink.path, "r");
	fseek(stream, 1000 * (long)strlen(LINE), SEEK_SET);
	CHECK(fread(text, 1, sizeof(text), stream) == strlen(expected));
	CHECK(!memcmp(text, expected, strlen(expected)));
	fclose(stream);
	sink_close(&sink);
	return PASSED;
}

/* The same with the plain functions and the adapted, offsets told and content left. */
static void tell(FILE *stream, long *offsets, int (*put)(const char *, FILE *))
{
	fpos_t position;

	for (int i = 0; i < 1000; i++)
		put(LINE, stream);
	*offsets++ = ftell(stream);
	put("after ", stream);
	*offsets++ = ftell(stream);
	fseek(stream, -3, SEEK_CUR);
	put("X", stream);
	*offsets++ = ftell(stream);
	fgetpos(stream, &position);
	fseek(stream, 0, SEEK_END);
	*offsets++ = ftell(stream);
	for (int i = 0; i < 1000; i++)
		put(LINE, stream);
	*offsets++ = ftello(stream);
	fsetpos(stream, &position);
	put("Y", stream);
	*offsets++ = ftell(stream);
	rewind(stream);
	for (int i = 0; i < 500; i++)
		put("rewound\n", stream);
	*offsets++ = ftell(stream);
	fflush(stream);
	*offsets++ = lseek(fileno(stream), 0, SEEK_CUR);
}

#define OFFSETS 8

static int same_content(const char *one, const char *other)
{
	char command[200];

	snprintf(command, sizeof(command), "cmp %s %s", one, other);
	return system(command) == 0;
}

static enum outcome offsets_with(const char *mode)
{
	long plain[OFFSETS], adapted[OFFSETS];
	struct sink one, other;
	FILE *stream = open_stream(&one, mode);

	CHECK(stream);
	tell(stream, plain, fputs);
	fclose(stream);
	stream = open_stream(&other, mode);
	tell(stream, adapted, kadapt_fputs);
	fclose(stream);
	for (int i = 0; i < OFFSETS; i++) {
		if (plain[i] != adapted[i])
			note("%s: offset %d is %ld, not %ld", mode, i, adapted[i], plain[i]);
		CHECK(plain[i] == adapted[i]);
	}
	CHECK(same_content(one.path, other.path));
	unlink(one.path);
	unlink(other.path);
	return PASSED;
}

static enum outcome test_offsets(void)
{
	CHECK(offsets_with("w") == PASSED);
	CHECK(offsets_with("a") == PASSED);
	CHECK(offsets_with("w+") == PASSED);
	return PASSED;
}

static enum outcome test_visible(void)
{
	const long bytes = 1000 * (long)strlen(LINE);
	struct sink sink;
	FILE *stream = open_stream(&sink, "w");

	CHECK(kadapt_enter(SLOW_PHASE) == 0);
	CHECK(stream && fill_stream(stream) == 0);
	CHECK(fflush(stream) == 0);
	CHECK(sink_arrived(&sink) == bytes);
	CHECK(fill_stream(stream) == 0);
	CHECK(kadapt_fflush(stream) == 0);
	CHECK(sink_arrived(&sink) == 2 * bytes);
	CHECK(fill_stream(stream) == 0);
	CHECK(fflush(NULL) == 0);
	CHECK(sink_arrived(&sink) == 3 * bytes);
	CHECK(fill_stream(stream) == 0);
	CHECK(fclose(stream) == 0);
	CHECK(sink_arrived(&sink) == 4 * bytes);
	return PASSED;
}

/* Each line of it is visible at once, as ever. */
static enum outcome test_line_buffered(void)
{
	struct sink sink;
	FILE *stream = open_stream(&sink, "w");
	uint64_t before = appends();

	setvbuf(stream, NULL, _IOLBF, BUFSIZ);
	for (long i = 1; i <= 1000; i++) {
		CHECK(kadapt_fputs(LINE, stream) >= 0);
		CHECK(sink_arrived(&sink) == i * (long)strlen(LINE));
	}
	CHECK(appends() == before);
	fclose(stream);
	return PASSED;
}

#define THREADS 4
#define LINES 5000

static FILE *common;

static void *print_lines(void *argument)
{
	for (int i = 0; i < LINES; i++) {
		kadapt_fprintf(common, "%d %05d ", (int)(intptr_t)argument, i);
		kadapt_fputs("and more of that line\n", common);
	}
	return NULL;
}

static void *print_whole_lines(void *argument)
{
	for (int i = 0; i < LINES; i++) {
		flockfile(common);
		kadapt_fprintf(common, "%d %05d ", (int)(intptr_t)argument, i);
		if (i % 7)
			kadapt_fputs("and more of that line\n", common);
		else
			fputs("and more of that line\n", common);
		funlockfile(common);
	}
	return NULL;
}

/* Who holds the stream's lock writes alone, and each thread's lines are in its order. */
static enum outcome check_lines(const char *path)
{
	int next[THREADS + 1] = {0};
	char line[100];
	FILE *file = fopen(path, "r");
	int thread, number, length;

	for (int i = 0; i < THREADS * LINES; i++) {
		CHECK(fgets(line, sizeof(line), file));
		CHECK(sscanf(line, "%d %d and more of that line%n", &thread, &number, &length) ==
		      2);
		CHECK(thread >= 1 && thread <= THREADS && line[length] == '\n');
		CHECK(next[thread]++ == number);
	}
	CHECK(!fgets(line, sizeof(line), file));
	fclose(file);
	return PASSED;
}

static enum outcome run_threads(void *(*function)(void *), struct sink *sink)
{
	pthread_t threads[THREADS];
	uint64_t before = appends();

	common = open_stream(sink, "w");
	CHECK(common);
	for (intptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, function, (void *)(i + 1));
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	CHECK(fclose(common) == 0);
	note("%d of %d went into rings", (int)(appends() - before), 2 * THREADS * LINES);
	CHECK(appends() > before);
	return PASSED;
}

static enum outcome test_threads(void)
{
	struct sink sink;
	struct stat status;

	CHECK(run_threads(print_lines, &sink) == PASSED);
	CHECK(stat(sink.path, &status) == 0);
	CHECK(status.st_size == (off_t)THREADS * LINES * 30);
	CHECK(run_threads(print_whole_lines, &sink) == PASSED);
	return check_lines(sink.path);
}

static int die(void *argument)
{
	if (fill_stream(argument) || kadapt_fputs("last words", argument) < 0)
		return FAILED;
	_exit(PASSED);
}

/* A ring loses nothing that the stream's own buffer would have written. */
static enum outcome test_death(void)
{
	const long bytes = 1000 * (long)strlen(LINE);
	struct sink sink;
	FILE *stream = open_stream(&sink, "w");
	pid_t process = fork();

	if (process == 0)
		exit(die(stream));
	fclose(stream);
	waitpid(process, NULL, 0);
	CHECK(sink_arrived(&sink) >= (bytes + 10) / 4096 * 4096);
	return PASSED;
}

const struct test_case stream_cases[] = {
    {"stream_order", "redirected and other calls mixed", test_order},
    {"stream_offsets", "where the stream thinks it is", test_offsets},
    {"stream_visible", "flushed is written", test_visible},
    {"stream_line_buffered", "a line-buffered stream keeps its own buffer", test_line_buffered},
    {"stream_threads", "threads that print, with and without flockfile()", test_threads},
    {"stream_death", "a process that ends without fclose()", test_death},
    {0},
};
