// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "device.h"
#include "libkadapt.h"
#include "twice.h"

#define TOLD_MAX 100000
#define CONTENT_MAX (4 << 20)

const struct calls plain_calls = {write, writev, fflush, fflush_unlocked};
const struct calls adapted_calls = {kadapt_write, kadapt_writev, kadapt_fflush,
				    kadapt_fflush_unlocked};

struct told {
	char what[16];
	long value;
};

/* In memory that all processes of the course share. */
struct account {
	atomic_int count;
	int status;
	uint64_t appends;
	struct told told[TOLD_MAX];
};

struct file {
	struct stat status;
	char *content;
};

static struct account *account;

void tell(const char *what, long value)
{
	int number = atomic_fetch_add(&account->count, 1);

	if (number >= TOLD_MAX)
		abort();
	snprintf(account->told[number].what, sizeof(account->told[number].what), "%s", what);
	account->told[number].value = value;
}

static int open_anew(const char *path, int more_flags)
{
	return open(path, O_RDWR | O_CREAT | O_TRUNC | more_flags, 0600);
}

int open_first(int more_flags)
{
	return open_anew(FIRST, more_flags);
}

int open_second(int more_flags)
{
	return open_anew(SECOND, more_flags);
}

void numbered(char record[NUMBERED_BYTES + 1], char tag, int number)
{
	snprintf(record, NUMBERED_BYTES + 1, "%c %07d\n", tag, number);
}

int write_numbered(const struct calls *calls, int file, char tag, int number)
{
	char record[NUMBERED_BYTES + 1];

	numbered(record, tag, number);
	return calls->write(file, record, NUMBERED_BYTES) == NUMBERED_BYTES ? 0 : -1;
}

static void run(course_function course, const struct calls *calls)
{
	pid_t child;

	unlink(FIRST);
	unlink(SECOND);
	child = fork();
	if (!child) {
		enum outcome outcome = kadapt_enter(SLOW_PHASE) ? FAILED : course(calls);

		account->appends = appends();
		exit(outcome);
	}
	if (waitpid(child, &account->status, 0) != child)
		abort();
}

static void look(const char *path, struct file *file)
{
	int descriptor = open(path, O_RDONLY);

	memset(&file->status, 0, sizeof(file->status));
	file->content = calloc(1, CONTENT_MAX);
	if (descriptor < 0)
		return;
	fstat(descriptor, &file->status);
	if (read(descriptor, file->content, CONTENT_MAX) != file->status.st_size)
		abort();
	close(descriptor);
}

static enum outcome compare_told(const struct account *plain, const struct account *adapted)
{
	int count = plain->count < adapted->count ? plain->count : adapted->count;

	for (int i = 0; i < count; i++) {
		const struct told *one = &plain->told[i], *other = &adapted->told[i];

		if (one->value != other->value || strcmp(one->what, other->what))
			note("told %d: %s %ld by the plain calls, %s %ld", i, one->what, one->value,
			     other->what, other->value);
		CHECK(one->value == other->value && !strcmp(one->what, other->what));
	}
	CHECK(plain->count == adapted->count);
	return PASSED;
}

static void show_difference(const struct file *plain, const struct file *adapted)
{
	off_t at = 0, begin;

	while (at < plain->status.st_size && plain->content[at] == adapted->content[at])
		at++;
	begin = at < 30 ? 0 : at - 30;
	note("at %ld of %ld: '%.60s'", (long)at, (long)plain->status.st_size,
	     plain->content + begin);
	note("at %ld of %ld: '%.60s'", (long)at, (long)adapted->status.st_size,
	     adapted->content + begin);
}

static enum outcome compare_files(const struct file *plain, const struct file *adapted)
{
	const size_t size = (size_t)plain->status.st_size;

	if (plain->status.st_size != adapted->status.st_size ||
	    memcmp(plain->content, adapted->content, size))
		show_difference(plain, adapted);
	CHECK(plain->status.st_size == adapted->status.st_size);
	CHECK(!memcmp(plain->content, adapted->content, size));
	CHECK(plain->status.st_mode == adapted->status.st_mode);
	if (plain->status.st_blocks != adapted->status.st_blocks)
		note("%ld blocks by the plain calls, %ld", (long)plain->status.st_blocks,
		     (long)adapted->status.st_blocks);
	CHECK(plain->status.st_blocks == adapted->status.st_blocks);
	return PASSED;
}

/* A file that a course leaves. */
struct left {
	struct account *account;
	struct file files[2];
};

static enum outcome leave_files(course_function course, const struct calls *calls,
				struct left *left)
{
	account = shared_memory(sizeof(*account));
	CHECK(account);
	run(course, calls);
	left->account = account;
	look(FIRST, &left->files[0]);
	look(SECOND, &left->files[1]);
	unlink(FIRST);
	unlink(SECOND);
	return PASSED;
}

enum outcome twice(course_function course, uint64_t least_appends)
{
	struct left plain, adapted;

	CHECK(leave_files(course, &plain_calls, &plain) == PASSED);
	CHECK(leave_files(course, &adapted_calls, &adapted) == PASSED);
	if (plain.account->status || adapted.account->status)
		note("status %#x by the plain calls, %#x", plain.account->status,
		     adapted.account->status);
	CHECK(compare_told(plain.account, adapted.account) == PASSED);
	CHECK(plain.account->status == 0 && adapted.account->status == 0);
	CHECK(plain.files[0].status.st_size > 0);
	for (int i = 0; i < 2; i++)
		CHECK(compare_files(&plain.files[i], &adapted.files[i]) == PASSED);
	CHECK(plain.account->appends == 0);
	if (adapted.account->appends < least_appends)
		note("%lu records went into rings", (unsigned long)adapted.account->appends);
	CHECK(adapted.account->appends >= least_appends);
	return PASSED;
}

static enum outcome with(course_function course, const struct calls *calls)
{
	account = shared_memory(sizeof(*account));
	CHECK(account);
	run(course, calls);
	if (account->status)
		note("with the %s calls: status %#x", calls == &plain_calls ? "plain" : "adapted",
		     account->status);
	CHECK(account->status == 0);
	return PASSED;
}

enum outcome with_both(course_function course)
{
	CHECK(with(course, &plain_calls) == PASSED);
	CHECK(with(course, &adapted_calls) == PASSED);
	return PASSED;
}
