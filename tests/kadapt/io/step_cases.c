// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A signal's handler at each instruction of a write and of a flush. A tracer steps into the call
 * and delivers the signal. Each time it goes one step further, or several steps if the call has
 * thousands. The daily test goes seven times as many steps at once.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "device.h"
#include "libkadapt.h"
#include "twice.h"

/* Lines of one letter, written before the call, by it, its handler, a child, and after it. */
#define BEFORE 'b'
#define IN_CALL 'i'
#define BY_HANDLER 'h'
#define BY_CHILD 'c'
#define AFTER 'a'
#define LONGEST_LINE 2000
#define LINES_MAX 10000
#define EVERY_DAY 7

/* The traced process. */
static struct {
	const struct calls *calls;
	int file;
	FILE *stream;
	int (*flush)(FILE *stream);
	sigjmp_buf back;
	int is_child;
	int *is_done; /* shared: the call has returned */
} traced;

static size_t line(char text[LONGEST_LINE], char letter, size_t size)
{
	memset(text, letter, size - 1);
	text[size - 1] = '\n';
	return size;
}

static void put_line(char letter, size_t size)
{
	char text[LONGEST_LINE];

	line(text, letter, size);
	if (traced.calls->write(traced.file, text, size) != (ssize_t)size)
		_exit(FAILED);
}

static void flush_line(char letter, size_t size)
{
	char text[LONGEST_LINE];

	line(text, letter, size);
	if (fwrite_unlocked(text, 1, size, traced.stream) != size || traced.flush(traced.stream))
		_exit(FAILED);
}

static void put_pieces(char letter, size_t size)
{
	char text[LONGEST_LINE];
	const struct iovec pieces[2] = {{text, 3}, {text + 3, size - 3}};

	line(text, letter, size);
	if (traced.calls->writev(traced.file, pieces, 2) != (ssize_t)size)
		_exit(FAILED);
}

static void (*happen)(void);

/* ---- what comes in between -------------------------------------------------------------- */

static void jump(void)
{
	siglongjmp(traced.back, 1);
}

static void write_too(void)
{
	put_line(BY_HANDLER, 10);
}

static void look(void)
{
	if (lseek(traced.file, 0, SEEK_CUR) < 0)
		_exit(FAILED);
}

static void replace(void)
{
	int other = open_second(O_APPEND);

	if (other < 0 || dup2(other, traced.file) != traced.file || close(other))
		_exit(FAILED);
}

static void fork_and_wait(void)
{
	pid_t child = _Fork();
	int status;

	if (child < 0 || (child && (waitpid(child, &status, 0) != child || status)))
		_exit(FAILED);
	traced.is_child = !child;
}

struct event {
	const char *name;
	void (*happen)(void);
	/* The lines that may follow those from before: in the first file, a space, in the second.
	 */
	const char *allowed[4];
};

static const struct event events[] = {
    {"a jump", jump, {"ia ", "a "}},
    {"a write", write_too, {"iha ", "hia "}},
    {"a look", look, {"ia "}},
    {"dup2()", replace, {"i a", " ia"}},
    {"a fork", fork_and_wait, {"icia ", "ica "}},
};

#define EVENTS ((int)(sizeof(events) / sizeof(*events)))

static void handle(int unused)
{
	(void)unused;
	happen();
}

/* ---- the calls -------------------------------------------------------------------------- */

struct call {
	const char *name;
	void (*put)(char letter, size_t size);
	size_t size; /* of the lines */
	int before;  /* calls before */
	int look;    /* and the ring is closed then */
	int stride;  /* steps from one to the next */
};

static const struct call calls_to_step[] = {
    {"an append", put_line, 10, 3, 0, 1},
    {"an append of more", put_line, 1000, 3, 0, 1},
    {"a write of pieces", put_pieces, 10, 3, 0, 1},
    {"a write that binds", put_line, 10, 1, 0, 11},
    {"a write to a closed ring", put_line, 10, 3, 1, 1},
    {"a write to a full ring", put_line, 1000, 66, 0, 5},
    {"a flush", flush_line, 10, 3, 0, 3},
    {"a flush that binds", flush_line, 10, 1, 0, 37},
    {"a flush to a full ring", flush_line, 1000, 66, 0, 17},
};

#define CALLS ((int)(sizeof(calls_to_step) / sizeof(*calls_to_step)))

static void begin(const struct call *call)
{
	traced.file = open_first(O_APPEND);
	traced.stream = fdopen(traced.file, "a");
	/* A jump while the lock is half taken breaks plain streams, too. */
	traced.flush = happen == jump ? traced.calls->flush_unlocked : traced.calls->flush;
	if (traced.file < 0 || !traced.stream || kadapt_enter(SLOW_PHASE))
		_exit(FAILED);
	for (int i = 0; i < call->before; i++)
		call->put(BEFORE, call->size);
	/* Without it the case would find nothing. */
	if (traced.calls == &adapted_calls && call->before > 1 && !appends())
		_exit(SKIPPED);
	if (call->look)
		look();
	signal(SIGUSR1, handle);
}

static void run_traced(const struct call *call)
{
	begin(call);
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		_exit(FAILED);
	if (sigsetjmp(traced.back, 1)) {
		__fpurge(traced.stream);
	} else {
		raise(SIGSTOP);
		call->put(IN_CALL, call->size);
	}
	*traced.is_done = 1;
	if (traced.is_child) {
		call->put(BY_CHILD, call->size);
		_exit(PASSED);
	}
	call->put(AFTER, call->size);
	_exit(PASSED);
}

/* ---- the tracer ------------------------------------------------------------------------- */

/* 0 if the call was over before. */
static int step_into(pid_t child, int steps)
{
	int status;

	for (int i = 0; i < steps; i++) {
		if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) ||
		    waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
			return -1;
		if (*traced.is_done)
			return 0;
	}
	return 1;
}

/* A letter for each whole line. */
static int read_letters(const char *path, char *letters, size_t *count)
{
	char text[LONGEST_LINE + 2];
	FILE *file = fopen(path, "r");

	while (file && fgets(text, sizeof(text), file)) {
		size_t length = strlen(text);

		if (strspn(text, (char[]){text[0], 0}) != length - 1 || text[length - 1] != '\n')
			return -1;
		letters[(*count)++] = text[0];
	}
	if (file)
		fclose(file);
	letters[*count] = 0;
	return 0;
}

static enum outcome check(const struct call *call, const struct event *event, int steps)
{
	static char letters[LINES_MAX];
	size_t count = 0;

	CHECK(read_letters(FIRST, letters, &count) == 0);
	letters[count++] = ' ';
	CHECK(read_letters(SECOND, letters, &count) == 0);
	CHECK(strspn(letters, (char[]){BEFORE, 0}) == (size_t)call->before);
	for (int i = 0; i < 4 && event->allowed[i]; i++)
		if (!strcmp(letters + call->before, event->allowed[i]))
			return PASSED;
	note("%s at step %d of %s leaves '%s'", event->name, steps, call->name,
	     letters + call->before);
	return FAILED;
}

/* Goes this many steps into the call. Sets *is_over if the call has fewer. */
static enum outcome happen_at(const struct call *call, const struct event *event, int steps,
			      int *is_over)
{
	int status, found;
	pid_t child;

	unlink(FIRST);
	unlink(SECOND);
	*traced.is_done = 0;
	happen = event->happen;
	child = fork();
	if (!child)
		run_traced(call);
	CHECK(waitpid(child, &status, 0) == child && WIFSTOPPED(status));
	found = step_into(child, steps);
	CHECK(found >= 0);
	*is_over = !found;
	CHECK(ptrace(PTRACE_DETACH, child, NULL, found ? SIGUSR1 : 0) == 0);
	CHECK(waitpid(child, &status, 0) == child);
	if (status)
		note("%s at step %d of %s: status %#x", event->name, steps, call->name, status);
	CHECK(status == 0);
	return found ? check(call, event, steps) : PASSED;
}

/* Returns the number of places, or -1. */
static int step_through(const struct call *call, const struct event *event, int stride)
{
	int is_over = 0, steps = 0;

	for (; !is_over; steps += stride)
		if (happen_at(call, event, steps, &is_over) != PASSED)
			return -1;
	return steps / stride;
}

static enum outcome step_all(const struct calls *calls, const struct event *event, int times)
{
	int places = 0;
	enum outcome outcome = PASSED;

	traced.is_done = shared_memory(sizeof(*traced.is_done));
	CHECK(traced.is_done);
	traced.calls = calls;
	for (int i = 0; i < CALLS; i++) {
		int found = step_through(&calls_to_step[i], event, calls_to_step[i].stride * times);

		if (found < 0)
			outcome = FAILED;
		places += found;
	}
	note("%s at %d places", event->name, places);
	return outcome;
}

/* (name, number of its event, description) */
#define CASES(CASE)                                                                                \
	CASE(jump, 0, "a handler jumps out")                                                       \
	CASE(write, 1, "a handler writes to the descriptor")                                       \
	CASE(look, 2, "a handler asks for the position")                                           \
	CASE(replace, 3, "a handler puts another file in the descriptor's place")                  \
	CASE(fork, 4, "a handler makes a child, which goes on with the call, too")

#define DEFINE(name, number, description)                                                          \
	static enum outcome step_##name(void)                                                      \
	{                                                                                          \
		return step_all(&adapted_calls, &events[number], EVERY_DAY);                       \
	}                                                                                          \
	static enum outcome walk_##name(void)                                                      \
	{                                                                                          \
		return step_all(&adapted_calls, &events[number], 1);                               \
	}
CASES(DEFINE)

/* Only the files that plain calls leave are allowed. */
static enum outcome step_plain(void)
{
	for (int i = 0; i < EVENTS; i++)
		CHECK(step_all(&plain_calls, &events[i], EVERY_DAY) == PASSED);
	return PASSED;
}

#define LIST(name, number, description)                                                            \
	{"step_" #name, description, step_##name}, {"walk_" #name, description, walk_##name},

const struct test_case step_cases[] = {
    {"step_plain", "plain calls, and all that may come in between", step_plain},
    CASES(LIST){0},
};
