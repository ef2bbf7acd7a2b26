// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Children of every kind, created between a program's records or within one. Parent and child go
 * on writing; no record is lost, and none is there twice.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "device.h"
#include "libkadapt.h"
#include "sink.h"
#include "twice.h"

#define ROUNDS 20
#define RECORDS 15

extern char **environ;

typedef pid_t (*fork_function)(void);

static pid_t fork_past_handlers(void)
{
	return _Fork();
}

static pid_t fork_raw(void)
{
	return (pid_t)syscall(SYS_fork);
}

static pid_t clone_raw(void)
{
	return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

static pid_t clone_with_descriptors(void)
{
	return (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
}

static const fork_function forks[] = {fork, fork_past_handlers, fork_raw, clone_raw,
				      clone_with_descriptors};

#define FORKS ((int)(sizeof(forks) / sizeof(*forks)))

static void write_some(const struct calls *calls, int file, char tag, int *number)
{
	for (int i = 0; i < RECORDS; i++)
		tell("write", write_numbered(calls, file, tag, (*number)++));
}

static fork_function fork_here;

/* The child writes between the parent's records, to the same open file. */
static enum outcome take_turns(const struct calls *calls)
{
	int file = open_first(0);
	int number = 0;

	for (int i = 0; i < ROUNDS; i++) {
		int status = -1;
		pid_t child;

		write_some(calls, file, 'p', &number);
		child = fork_here();
		CHECK(child >= 0);
		if (!child) {
			number = i * RECORDS;
			write_some(calls, file, 'c', &number);
			tell("position", lseek(file, 0, SEEK_CUR));
			_exit(0);
		}
		CHECK(waitpid(child, &status, 0) == child && status == 0);
		write_some(calls, file, 'p', &number);
	}
	tell("position", lseek(file, 0, SEEK_CUR));
	return PASSED;
}

static enum outcome test_forks(void)
{
	for (int i = 0; i < FORKS; i++) {
		fork_here = forks[i];
		if (twice(take_turns, ROUNDS * RECORDS) != PASSED) {
			note("with way %d to fork", i);
			return FAILED;
		}
	}
	return PASSED;
}

/* A child of a child writes, too. Then the descriptor is closed. */
static enum outcome take_turns_in_line(const struct calls *calls)
{
	int file = open_first(0);
	int number = 0, status;

	for (int depth = 0; depth < 5; depth++) {
		pid_t child;

		write_some(calls, file, (char)('a' + depth), &number);
		child = forks[depth]();
		CHECK(child >= 0);
		if (child) {
			CHECK(waitpid(child, &status, 0) == child);
			write_some(calls, file, (char)('A' + depth), &number);
			_exit(status ? FAILED : PASSED);
		}
	}
	write_some(calls, file, 'f', &number);
	_exit(PASSED);
}

static enum outcome test_line(void)
{
	return twice(take_turns_in_line, 0);
}

/* ---- at the same time ------------------------------------------------------------------- */

#define CHILDREN 8
#define TOGETHER 2000

static void write_all(const struct calls *calls, int file, char tag)
{
	for (int i = 0; i < TOGETHER; i++)
		if (write_numbered(calls, file, tag, i))
			_exit(FAILED);
}

/* All records of each tag are there once, whole and in order. */
static enum outcome check_tags(const int *expected)
{
	FILE *left = fopen(FIRST, "r");
	char record[NUMBERED_BYTES + 1] = "";
	int next[128] = {0}, number;
	char tag;

	while (fread(record, NUMBERED_BYTES, 1, left) == 1) {
		if (sscanf(record, "%c %d", &tag, &number) != 2 || record[9] != '\n' ||
		    next[(int)tag] != number)
			note("'%.9s' where %d was to come", record, next[(int)tag & 127]);
		CHECK(sscanf(record, "%c %d", &tag, &number) == 2 && record[9] == '\n');
		CHECK(next[(int)tag]++ == number);
	}
	fclose(left);
	CHECK(!memcmp(next, expected, sizeof(next)));
	return PASSED;
}

static enum outcome write_together(const struct calls *calls)
{
	int file = open_first(0);
	int expected[128] = {0};
	int status;

	for (int i = 0; i < CHILDREN; i++) {
		pid_t child = forks[i % FORKS]();

		CHECK(child >= 0);
		if (!child) {
			write_all(calls, file, (char)('a' + i));
			_exit(PASSED);
		}
		expected['a' + i] = TOGETHER;
	}
	write_all(calls, file, 'p');
	expected['p'] = TOGETHER;
	for (int i = 0; i < CHILDREN; i++)
		CHECK(wait(&status) > 0 && status == 0);
	return check_tags(expected);
}

static enum outcome test_together(void)
{
	return with_both(write_together);
}

/* ---- children that borrow the parent's memory ------------------------------------------- */

static enum outcome borrow(const struct calls *calls)
{
	int file = open_first(0), other = open_second(0);
	int number = 0, status;

	for (int i = 0; i < ROUNDS; i++) {
		pid_t child;

		write_some(calls, file, 'p', &number);
		child = vfork();
		if (!child) {
			if (write_numbered(calls, file, 'c', i))
				_exit(FAILED);
			if (dup2(other, file) != file || write_numbered(calls, file, 'o', i))
				_exit(FAILED);
			if (i % 2)
				execlp("true", "true", NULL);
			_exit(0);
		}
		CHECK(waitpid(child, &status, 0) == child && status == 0);
		write_some(calls, file, 'p', &number);
	}
	tell("position", lseek(file, 0, SEEK_CUR));
	return PASSED;
}

static enum outcome test_vfork(void)
{
	return twice(borrow, ROUNDS * RECORDS);
}

static struct {
	const struct calls *calls;
	int file;
	int number;
} borrowed;

static int write_in_borrowed_memory(void *unused)
{
	(void)unused;
	for (int i = 0; i < RECORDS; i++)
		if (write_numbered(borrowed.calls, borrowed.file, 'b', borrowed.number++))
			return FAILED;
	return PASSED;
}

/* Like a thread, and with the same thread pointer, but with its own descriptors. */
static enum outcome borrow_by_clone(const struct calls *calls)
{
	static char stack[1 << 16] __attribute__((aligned(16)));
	int file = open_first(0);
	int number = 0, status;

	borrowed.calls = calls;
	borrowed.file = file;
	for (int i = 0; i < ROUNDS; i++) {
		int flags = CLONE_VM | SIGCHLD | (i % 2 ? CLONE_FILES : 0);
		pid_t child;

		write_some(calls, file, 'p', &number);
		child = clone(write_in_borrowed_memory, stack + sizeof(stack), flags, NULL);
		CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
		write_some(calls, file, 'p', &number);
	}
	return PASSED;
}

static enum outcome test_clone(void)
{
	return twice(borrow_by_clone, ROUNDS * RECORDS);
}

/* Commands that write to the same file, started in all ways. */
static enum outcome start_commands(const struct calls *calls)
{
	char *const words[] = {"sh", "-c", "echo spawned >&7", NULL};
	int file = open_first(0);
	int number = 0, status;
	FILE *command;
	pid_t child;

	CHECK(dup2(file, 7) == 7 && close(file) == 0);
	for (int i = 0; i < 5; i++) {
		write_some(calls, 7, 'p', &number);
		CHECK(posix_spawnp(&child, "sh", NULL, NULL, words, environ) == 0);
		CHECK(waitpid(child, &status, 0) == child && status == 0);
		write_some(calls, 7, 'p', &number);
		CHECK(system("echo system >&7") == 0);
		write_some(calls, 7, 'p', &number);
		command = popen("cat >&7", "w");
		CHECK(command && fputs("popen\n", command) >= 0 && pclose(command) == 0);
	}
	return PASSED;
}

static enum outcome test_commands(void)
{
	return twice(start_commands, 5 * RECORDS);
}

/* ---- in the midst of a record ----------------------------------------------------------- */

#define PAGE 4096

static char *page;
static struct sink sink;
static pid_t child_in_the_midst;

/* The child returns from the handler and continues the append. */
static void fork_in_the_midst(int unused)
{
	int status;

	(void)unused;
	mprotect(page, PAGE, PROT_READ | PROT_WRITE);
	memcpy(page, "midst67890", RECORD_BYTES);
	child_in_the_midst = fork_here();
	if (child_in_the_midst < 0)
		_exit(FAILED);
	if (child_in_the_midst &&
	    (waitpid(child_in_the_midst, &status, 0) != child_in_the_midst || status))
		_exit(FAILED);
	if (!child_in_the_midst)
		memcpy(page, "child67890", RECORD_BYTES);
}

#define EXPECTED                                                                                   \
	RECORD RECORD RECORD                                                                       \
	    "child67890after67890after67890after67890midst67890after67890after67890after67890"

static enum outcome fork_once(void)
{
	const long length = sizeof(EXPECTED) - 1;
	char text[200];

	CHECK(kadapt_enter(SLOW_PHASE) == 0);
	CHECK(sink_open(&sink) == 0);
	page = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(page != MAP_FAILED);
	signal(SIGSEGV, fork_in_the_midst);
	CHECK(sink_fill(&sink) == 0);
	CHECK(kadapt_write(sink.writer, page, RECORD_BYTES) == RECORD_BYTES);
	for (int i = 0; i < 3; i++)
		CHECK(kadapt_write(sink.writer, "after67890", RECORD_BYTES) == RECORD_BYTES);
	if (!child_in_the_midst)
		_exit(0);
	CHECK(pread(sink.writer, text, sizeof(text), 0) == length);
	if (memcmp(text, EXPECTED, (size_t)length))
		note("%.*s", (int)length, text);
	CHECK(!memcmp(text, EXPECTED, (size_t)length));
	sink_close(&sink);
	return PASSED;
}

static int fork_once_by(void *way)
{
	fork_here = forks[*(int *)way];
	return (int)fork_once();
}

static enum outcome test_midst(void)
{
	for (int way = 0; way < FORKS; way++)
		CHECK(in_child(fork_once_by, &way) == PASSED);
	return PASSED;
}

#define INTERRUPTIONS 200
/* A slow timer leads to more records. */
#define RECORDS_MAX (1 << 20)

static struct {
	const struct calls *calls;
	int file;
	volatile sig_atomic_t count; /* children so far */
	volatile int at;	     /* number of the record that the parent writes */
	volatile int is_child;
	int duplicates[RECORDS_MAX]; /* by children that continued the record */
} interrupted;

/* The child continues the interrupted code, writes some records, and ends. */
static void fork_anywhere(int unused)
{
	pid_t child;

	(void)unused;
	if (interrupted.is_child || interrupted.count >= INTERRUPTIONS)
		return;
	child = forks[interrupted.count % FORKS]();
	if (child < 0)
		_exit(FAILED);
	if (!child)
		interrupted.is_child = 1;
	interrupted.count++;
	interrupted.duplicates[interrupted.at]++;
}

static void end_child(void)
{
	int begin = (interrupted.count - 1) * RECORDS;

	for (int i = 0; i < RECORDS; i++)
		if (write_numbered(interrupted.calls, interrupted.file, 'c', begin + i))
			_exit(FAILED);
	_exit(PASSED);
}

/* Some of the parent's records are there again: a child was forked in them. */
static enum outcome check_interrupted(int records)
{
	static int seen[1 << 20], of_children[INTERRUPTIONS * RECORDS];
	FILE *left = fopen(FIRST, "r");
	char record[NUMBERED_BYTES + 1] = "";
	int number, newest = -1;
	char tag;

	while (fread(record, NUMBERED_BYTES, 1, left) == 1) {
		CHECK(sscanf(record, "%c %d", &tag, &number) == 2 && record[9] == '\n');
		CHECK(tag == 'p' || tag == 'c');
		if (tag == 'c')
			CHECK(of_children[number]++ == 0);
		else if (seen[number]++ == 0)
			CHECK(number == ++newest);
	}
	fclose(left);
	CHECK(newest == records - 1);
	for (int i = 0; i < records; i++) {
		/* A child that was forked between two records continues with the second. */
		int most = 1 + interrupted.duplicates[i] + (i ? interrupted.duplicates[i - 1] : 0);

		if (seen[i] > most)
			note("record %d is there %d times, not %d", i, seen[i], most);
		CHECK(seen[i] <= most);
	}
	for (int i = 0; i < INTERRUPTIONS * RECORDS; i++)
		CHECK(of_children[i] == 1);
	return PASSED;
}

/* One timer after the other, each time with another interval. */
static void set_timer(long microseconds)
{
	const struct itimerval when = {.it_value = {.tv_usec = microseconds}};

	setitimer(ITIMER_REAL, &when, NULL);
}

static enum outcome fork_at_any_instruction(const struct calls *calls)
{
	int status, count = 0, ended = 0;

	interrupted.calls = calls;
	interrupted.file = open_first(0);
	signal(SIGALRM, fork_anywhere);
	set_timer(1);
	while (ended < INTERRUPTIONS) {
		CHECK(count < RECORDS_MAX);
		interrupted.at = count;
		CHECK(write_numbered(calls, interrupted.file, 'p', count++) == 0);
		if (interrupted.count == ended)
			continue;
		/* Every child comes here, wherever it was forked. */
		if (interrupted.is_child)
			end_child();
		/* Interrupt no records of a child. */
		CHECK(wait(&status) > 0 && status == 0);
		ended++;
		set_timer(50 + count % 97);
	}
	return check_interrupted(count);
}

static enum outcome test_anywhere(void)
{
	return with_both(fork_at_any_instruction);
}

const struct test_case process_cases[] = {
    {"process_forks", "parent and child write in turns, by all ways to fork", test_forks},
    {"process_line", "a child of a child of a child", test_line},
    {"process_together", "parent and eight children write at the same time", test_together},
    {"process_vfork", "a child that borrows the parent's memory, and executes", test_vfork},
    {"process_clone", "a child that shares the parent's memory", test_clone},
    {"process_commands", "commands that write to the same file", test_commands},
    {"process_midst", "a fork by a handler in the midst of a record", test_midst},
    {"process_anywhere", "forks by a timer's handler at any instruction", test_anywhere},
    {0},
};
