// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What changes under a stream between two of its records. Each is done twice, with
 * the C library's functions and with the adapted: the files must be the same.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "device.h"
#include "device_file.h"
#include "io_count.h"
#include "libkadapt.h"

struct calls {
	size_t (*write)(const void *, size_t, size_t, FILE *);
	size_t (*write_unlocked)(const void *, size_t, size_t, FILE *);
	int (*put_text)(const char *, FILE *);
	int (*put_byte)(int, FILE *);
};

static const struct calls plain = {fwrite, fwrite_unlocked, fputs, fputc};
static const struct calls adapted = {kadapt_fwrite, kadapt_fwrite_unlocked, kadapt_fputs,
				     kadapt_fputc};

#define FIRST "/tmp/kadapt-io-change-first"
#define SECOND "/tmp/kadapt-io-change-second"
#define CONTENT_MAX (1 << 20)

struct content {
	size_t sizes[2];
	char bytes[2][CONTENT_MAX];
};

static size_t read_file(const char *path, char *bytes)
{
	FILE *file = fopen(path, "r");
	size_t size = file ? fread(bytes, 1, CONTENT_MAX, file) : 0;

	if (file)
		fclose(file);
	unlink(path);
	return size;
}

static void read_both(struct content *content)
{
	content->sizes[0] = read_file(FIRST, content->bytes[0]);
	content->sizes[1] = read_file(SECOND, content->bytes[1]);
}

static uint64_t appends(void)
{
	struct kadapt_io_totals now;

	kadapt_io_count(&now);
	return now.appends;
}

static enum outcome compare(int (*change)(const struct calls *, FILE *))
{
	static struct content expected, found;
	uint64_t before;

	CHECK(kadapt_enter(SLOW_PHASE) == 0);
	CHECK(change(&plain, fopen(FIRST, "w")) == 0);
	read_both(&expected);
	before = appends();
	CHECK(change(&adapted, fopen(FIRST, "w")) == 0);
	CHECK(appends() - before > 500);
	read_both(&found);
	for (int i = 0; i < 2; i++) {
		if (found.sizes[i] != expected.sizes[i])
			note("%zu bytes, not %zu", found.sizes[i], expected.sizes[i]);
		CHECK(found.sizes[i] == expected.sizes[i]);
		CHECK(!memcmp(found.bytes[i], expected.bytes[i], found.sizes[i]));
	}
	CHECK(expected.sizes[0]);
	return PASSED;
}

/* Enough for a ring, and then some that go the short way. */
static void fill(const struct calls *calls, FILE *stream)
{
	char line[64];

	for (int i = 0; i < 1000; i++) {
		snprintf(line, sizeof(line), "line %d of a thousand\n", i);
		calls->put_text(line, stream);
	}
}

/* All ways to copy, and putc_unlocked() as compiled in: it writes into the stream's own buffer. */
static int mix(const struct calls *calls, FILE *stream)
{
	static char bytes[600];

	fill(calls, stream);
	for (size_t i = 0; i < sizeof(bytes); i++) {
		bytes[i] = (char)('a' + i % 26);
		calls->write(bytes, 1, i, stream);
		if (i % 3 == 0)
			putc_unlocked('0' + (int)(i % 10), stream);
		calls->write_unlocked(bytes, i + 1, 1, stream);
		if (i % 5 == 0)
			fwrite(bytes, 1, i, stream);
		calls->put_byte((int)i, stream);
		calls->put_text("", stream);
		calls->write(bytes, i, 0, stream);
	}
	return fclose(stream);
}

static int open_another(const struct calls *calls, FILE *stream)
{
	fill(calls, stream);
	stream = freopen(SECOND, "w", stream);
	if (!stream || calls->put_text("after\n", stream) < 0)
		return -1;
	fill(calls, stream);
	return fclose(stream);
}

static int close_number(const struct calls *calls, FILE *stream)
{
	int number = fileno(stream);

	fill(calls, stream);
	if (fflush(stream) || close(number))
		return -1;
	if (open(SECOND, O_WRONLY | O_CREAT | O_TRUNC, 0600) != number)
		return -1;
	calls->put_text("after\n", stream);
	fill(calls, stream);
	return fclose(stream);
}

static int replace_number(const struct calls *calls, FILE *stream)
{
	int second = open(SECOND, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	fill(calls, stream);
	if (fflush(stream) || dup2(second, fileno(stream)) < 0 || close(second))
		return -1;
	calls->put_text("after\n", stream);
	fill(calls, stream);
	return fclose(stream);
}

static int write_in_child(const struct calls *calls, FILE *stream)
{
	pid_t child;

	fill(calls, stream);
	if (fflush(stream))
		return -1;
	child = fork();
	calls->put_text(child ? "parent\n" : "child\n", stream);
	if (child == 0) {
		fflush(stream);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	fill(calls, stream);
	return fclose(stream);
}

struct share {
	const struct calls *calls;
	FILE *stream;
};

static void *fill_share(void *argument)
{
	const struct share *share = argument;

	fill(share->calls, share->stream);
	return NULL;
}

/* From the thread's beginning on, nobody is alone any more. */
static int write_in_thread(const struct calls *calls, FILE *stream)
{
	struct share share = {calls, stream};
	pthread_t thread;

	fill(calls, stream);
	if (pthread_create(&thread, NULL, fill_share, &share) || pthread_join(thread, NULL))
		return -1;
	fill(calls, stream);
	return fclose(stream);
}

/* A stream that is closed, and another that the C library puts into the same memory. */
static int open_anew(const struct calls *calls, FILE *stream)
{
	fill(calls, stream);
	fclose(stream);
	stream = fopen(SECOND, "w");
	if (!stream || calls->put_text("new\n", stream) < 0)
		return -1;
	fill(calls, stream);
	return fclose(stream);
}

#define LIMIT 30000

/* The file ends at the limit, and who asks is told; in between the records' own results differ. */
static int reach_limit(const struct calls *calls, FILE *stream)
{
	const struct rlimit limit = {LIMIT, RLIM_INFINITY}, none = {RLIM_INFINITY, RLIM_INFINITY};
	int is_told;

	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &limit);
	fill(calls, stream);
	fill(calls, stream);
	is_told = ferror(stream) || fflush(stream);
	fclose(stream);
	setrlimit(RLIMIT_FSIZE, &none);
	return is_told ? 0 : -1;
}

#define CHANGE(name)                                                                               \
	static enum outcome test_##name(void)                                                      \
	{                                                                                          \
		return compare(name);                                                              \
	}

CHANGE(mix)
CHANGE(open_another)
CHANGE(close_number)
CHANGE(replace_number)
CHANGE(write_in_child)
CHANGE(write_in_thread)
CHANGE(open_anew)
CHANGE(reach_limit)

/* Streams without a descriptor are not taken for one that has a ring: they may say 0. */
static enum outcome test_memory(void)
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream, *memory;

	CHECK(kadapt_enter(SLOW_PHASE) == 0);
	close(STDIN_FILENO);
	stream = fopen(FIRST, "w");
	CHECK(stream && fileno(stream) == STDIN_FILENO);
	fill(&adapted, stream);
	memory = open_memstream(&text, &size);
	CHECK(memory && kadapt_fputs("memory", memory) >= 0);
	CHECK(fclose(memory) == 0);
	CHECK(size == 6 && !memcmp(text, "memory", 6));
	free(text);
	CHECK(fclose(stream) == 0);
	unlink(FIRST);
	return PASSED;
}

#define PAGE 4096

static FILE *midst_stream;
static char *page;
static void (*in_the_midst)(void);

/* The record is on a page that may not be read yet: this runs in the midst of its append. */
static void handle(int number)
{
	(void)number;
	mprotect(page, PAGE, PROT_READ | PROT_WRITE);
	memcpy(page, "midst\n", 6);
	in_the_midst();
}

static void write_too(void)
{
	if (kadapt_fwrite_unlocked("handler\n", 8, 1, midst_stream) != 1)
		_exit(FAILED);
}

/* As the kernel does by itself after a while. */
static void let_go(void)
{
	for (unsigned long ring = 0; ring < 4; ring++)
		syscall(SYS_ioctl, kadapt_device, KADAPT_UNBIND, ring);
}

/* Leaves so many of the file's last bytes. */
static enum outcome append_with(void (*function)(void), char *end, size_t length)
{
	static struct content content;

	in_the_midst = function;
	CHECK(kadapt_enter(SLOW_PHASE) == 0);
	midst_stream = fopen(FIRST, "w");
	page = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(midst_stream && page != MAP_FAILED);
	fill(&adapted, midst_stream);
	signal(SIGSEGV, handle);
	CHECK(kadapt_fwrite(page, 6, 1, midst_stream) == 1);
	CHECK(kadapt_fputs("after\n", midst_stream) >= 0);
	CHECK(fclose(midst_stream) == 0);
	read_both(&content);
	CHECK(content.sizes[0] > length);
	memcpy(end, content.bytes[0] + content.sizes[0] - length, length);
	return PASSED;
}

#define LAST "line 999 of a thousand\n"

static enum outcome test_handler(void)
{
	static const char one[] = LAST "midst\nhandler\nafter\n",
			  other[] = LAST "handler\nmidst\nafter\n";
	char end[sizeof(one) - 1];

	CHECK(append_with(write_too, end, sizeof(end)) == PASSED);
	CHECK(!memcmp(end, one, sizeof(end)) || !memcmp(end, other, sizeof(end)));
	return PASSED;
}

static enum outcome test_let_go(void)
{
	static const char expected[] = LAST "midst\nafter\n";
	char end[sizeof(expected) - 1];

	CHECK(append_with(let_go, end, sizeof(end)) == PASSED);
	CHECK(!memcmp(end, expected, sizeof(end)));
	return PASSED;
}

const struct test_case stream_change_cases[] = {
    {"stream_mix", "records of all sizes, also into the stream's own buffer", test_mix},
    {"stream_open_another", "freopen()", test_open_another},
    {"stream_close_number", "its descriptor is closed and opened again", test_close_number},
    {"stream_replace_number", "dup2() over its descriptor", test_replace_number},
    {"stream_write_in_child", "fork()", test_write_in_child},
    {"stream_write_in_thread", "a thread is begun", test_write_in_thread},
    {"stream_open_anew", "fclose(), and a stream in the same place", test_open_anew},
    {"stream_reach_limit", "no room in the midst of records", test_reach_limit},
    {"stream_memory", "a stream without a descriptor beside it", test_memory},
    {"stream_handler", "a signal handler writes to it in the midst of a record", test_handler},
    {"stream_let_go", "the kernel lets its descriptor go in the midst of a record", test_let_go},
    {0},
};
