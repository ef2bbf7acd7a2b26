// SPDX-License-Identifier: GPL-2.0-or-later
/* Windows: who else writes the file meanwhile, and what ends a window. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device.h"
#include "harness.h"
#include "window.h"

#define PAGE 4096

/* Nobody holds a lease on it: to open it for writing needs no wait. */
static bool is_free(const char *path)
{
	int file = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);

	return file >= 0 && !close(file);
}

static bool is_withdrawn_soon(const struct test_window *window)
{
	for (int i = 0; i < 300 && window_is_shown(window); i++)
		sleep_for(NS_PER_MS);
	return !window_is_shown(window);
}

static enum outcome test_idle(void)
{
	char record[16];
	struct test_window window;
	int file = open_numbered(10000);

	CHECK(window_open(&window, 0) == 0);
	window.look.delay_ns = 0;
	CHECK(window_look(&window, file, 0) == 0);
	CHECK(window.look.delay_ns == KADAPT_WINDOW_DELAY_NS);
	CHECK(is_withdrawn_soon(&window));
	CHECK(is_free(numbered_path()));
	/* To touch it is harmless; and again. */
	CHECK(!window_copy(&window, record, 16, 0));
	window.look.delay_ns = KADAPT_DELAY_MAX_NS;
	CHECK(window_look(&window, file, 0) == 0);
	CHECK(window_copy(&window, record, 16, 0) && is_numbered(record, 16, 0));
	return PASSED;
}

static enum outcome test_let_go(void)
{
	struct test_window window;
	int file = open_numbered(10000);

	CHECK(window_open(&window, 0) == 0);
	CHECK(window_look(&window, file, 0) == 0);
	CHECK(!is_free(numbered_path()));
	CHECK(is_withdrawn_soon(&window));
	CHECK(window_look(&window, file, 0) == 0);
	CHECK(window_let_go(&window) == 0 && !window_is_shown(&window));
	CHECK(is_free(numbered_path()));
	CHECK(window_let_go(&window) == 0);
	return PASSED;
}

/* The program closes its descriptor: nothing else keeps the file open for long. */
static enum outcome test_abandoned(void)
{
	struct test_window window;
	int file = open_numbered(10000);
	int other = open(numbered_path(), O_RDONLY | O_CLOEXEC);

	CHECK(flock(file, LOCK_EX) == 0);
	CHECK(window_open(&window, 0) == 0);
	CHECK(window_look(&window, file, 0) == 0);
	close(file);
	CHECK(is_withdrawn_soon(&window));
	for (int i = 0; i < 100 && flock(other, LOCK_EX | LOCK_NB); i++)
		sleep_for(NS_PER_MS);
	CHECK(flock(other, LOCK_EX | LOCK_NB) == 0);
	CHECK_ERRNO(window_look(&window, file, 0), EBADF);
	return PASSED;
}

static enum outcome test_foreign_write(void)
{
	char record[4];
	struct test_window window;
	int file = open_numbered(10000), writer;

	CHECK(window_open(&window, 0) == 0);
	CHECK(window_look(&window, file, 0) == 0);
	CHECK(window_copy(&window, record, 4, 100));
	writer = open(numbered_path(), O_WRONLY | O_CLOEXEC);
	CHECK(writer >= 0);
	CHECK(!window_is_shown(&window));
	CHECK_ERRNO(window_look(&window, file, 0), ENOLCK);
	CHECK(pwrite(writer, "new!", 4, 100) == 4);
	CHECK(window_read(&window, file, record, 4, 100) == 4 && !memcmp(record, "new!", 4));
	close(writer);
	CHECK(window_look(&window, file, 0) == 0);
	CHECK(window_copy(&window, record, 4, 100) && !memcmp(record, "new!", 4));
	/* One that reads is no one to wait for. */
	CHECK(open(numbered_path(), O_RDONLY | O_CLOEXEC) >= 0);
	CHECK(window_is_shown(&window));
	return PASSED;
}

#define BLOCK 16384
#define ENOUGH_COPIES 1000
#define ENOUGH_REFUSED 20
#define LONGEST (20 * NS_PER_S)

/* The writer's versions: begun before it opens the file, whole when it has closed it. */
struct progress {
	volatile int begun;
	volatile int whole;
	volatile bool ends;
};

/* All bytes are the version's number. */
static int write_version(int version)
{
	static char block[BLOCK];
	int file = open(numbered_path(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	memset(block, version & 0x7f, sizeof(block));
	if (file < 0 || (version % 2 && ftruncate(file, 0)) ||
	    pwrite(file, block, sizeof(block), 0) != sizeof(block))
		return -1;
	return close(file);
}

/* At once with the reader, where there is another processor. */
static void rewrite(struct progress *progress)
{
	cpu_set_t others;

	memset(&others, 0xff, sizeof(others));
	CPU_CLR(0, &others);
	sched_setaffinity(0, sizeof(others), &others);
	for (int version = 1; !progress->ends; version++) {
		progress->begun = version;
		if (write_version(version))
			_exit(1);
		progress->whole = version;
		if (version % 3 == 0)
			sleep_for(20 * NS_PER_US);
	}
	_exit(0);
}

/* A copy that counts is of one version, and not of one before the last whole one. */
static bool is_of(const char *copy, int whole, int begun)
{
	static char expected[BLOCK];

	memset(expected, copy[0], BLOCK);
	if (memcmp(copy, expected, BLOCK))
		return false;
	return begun - whole > 100 || (copy[0] - (whole & 0x7f) + 128) % 128 <= begun - whole;
}

static enum outcome copies_are_whole(struct test_window *window, int file,
				     const struct progress *progress)
{
	static char copy[BLOCK];
	int64_t end = now() + LONGEST;
	int accepted = 0, refused = 0;

	while (now() < end && (accepted < ENOUGH_COPIES || refused < ENOUGH_REFUSED)) {
		int whole;

		if (window_look(window, file, 0) || window->look.end != BLOCK)
			continue;
		whole = progress->whole;
		if (window_copy(window, copy, BLOCK, 0)) {
			CHECK(is_of(copy, whole, progress->begun));
			accepted++;
		} else {
			refused++;
		}
	}
	note("%d versions, %d copies counted, %d did not", progress->whole, accepted, refused);
	CHECK(accepted > 0);
	return PASSED;
}

/* Another process truncates and rewrites the file all the time. */
static enum outcome test_rewritten(void)
{
	struct progress *progress = shared_memory(sizeof(*progress));
	struct test_window window;
	enum outcome outcome;
	pid_t writer;
	int file, status;

	CHECK(write_version(0) == 0);
	file = open(numbered_path(), O_RDONLY | O_CLOEXEC);
	CHECK(window_open(&window, BLOCK) == 0);
	writer = fork();
	if (writer == 0)
		rewrite(progress);
	outcome = copies_are_whole(&window, file, progress);
	progress->ends = true;
	CHECK(waitpid(writer, &status, 0) == writer && outcome == PASSED);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	return PASSED;
}

/* Truncated while it is looked at: what was shown stays readable, but does not count. */
static enum outcome test_truncated(void)
{
	static char record[10000];
	struct test_window window;
	int file = open_numbered(10000);

	CHECK(window_open(&window, 0) == 0);
	CHECK(window_look(&window, file, 0) == 0);
	CHECK(truncate(numbered_path(), 0) == 0);
	CHECK(!window_copy(&window, record, sizeof(record), 0));
	CHECK_ERRNO(window_look(&window, file, 0), ENODATA);
	CHECK(window_read(&window, file, record, 10, 0) == 0);
	return PASSED;
}

static int use_anothers(void *argument)
{
	struct test_window *window = argument;

	if (window_look(window, window->look.descriptor, 0) != -1 || errno != EPERM)
		return 1;
	if (window_map(window, PROT_READ) != -1 || errno != EPERM)
		return 2;
	/* The mapping isn't there. */
	return madvise((void *)window->header, PAGE, MADV_NORMAL) == -1 && errno == ENOMEM ? 0 : 3;
}

static enum outcome test_child(void)
{
	struct test_window window;
	int file = open_numbered(10000);

	CHECK(window_open(&window, 0) == 0);
	CHECK(window_look(&window, file, 0) == 0);
	CHECK(in_child(use_anothers, &window) == 0);
	CHECK(window_is_shown(&window));
	CHECK_ERRNO(madvise((void *)window.header, window.shape.map_bytes, MADV_DOFORK), EINVAL);
	return PASSED;
}

static enum outcome test_unmap(void)
{
	struct test_window window;
	int file = open_numbered(10000);
	char *memory;

	CHECK(window_open(&window, 0) == 0);
	CHECK(window_look(&window, file, 0) == 0);
	memory = (char *)window.header;
	CHECK_ERRNO(munmap(memory, PAGE), EINVAL);
	CHECK_ERRNO(mprotect(memory, window.shape.map_bytes, PROT_READ | PROT_WRITE), EACCES);
	CHECK(mremap(memory, window.shape.map_bytes, window.shape.map_bytes,
		     MREMAP_MAYMOVE | MREMAP_FIXED, memory + (1 << 30)) == MAP_FAILED);
	CHECK(window_is_shown(&window));
	CHECK(munmap(memory, window.shape.map_bytes) == 0);
	for (int i = 0; i < 100 && !is_free(numbered_path()); i++)
		sleep_for(NS_PER_MS);
	CHECK(is_free(numbered_path()));
	CHECK_ERRNO(window_look(&window, file, 0), ENOENT);
	return PASSED;
}

static enum outcome test_close_device(void)
{
	char record[16];
	struct test_window window;
	int file = open_numbered(10000);

	CHECK(window_open(&window, 0) == 0);
	CHECK(window_look(&window, file, 0) == 0);
	CHECK(close(window.device) == 0);
	CHECK(is_free(numbered_path()));
	CHECK(!window_copy(&window, record, 16, 0));
	return PASSED;
}

static int look_and_die(void *how)
{
	struct test_window window;
	int file = open(numbered_path(), O_RDONLY | O_CLOEXEC);

	if (window_open(&window, 0))
		return 2;
	if (window_look(&window, file, 0))
		return 2;
	if (*(char *)how == 'k')
		kill(getpid(), SIGKILL);
	if (*(char *)how == 'x')
		execl("/proc/self/exe", "kadapt-selftest", NO_CASE, NULL);
	return 0;
}

/* Whatever ends the process, the file is free when wait(2) returns. */
static enum outcome test_death(void)
{
	static const char ways[] = "ekx";
	int status;

	close(open_numbered(10000));
	for (const char *how = ways; *how; how++) {
		pid_t child = fork();

		if (child == 0)
			_exit(look_and_die((void *)how));
		CHECK(waitpid(child, &status, 0) == child);
		CHECK(!WIFEXITED(status) || WEXITSTATUS(status) == 0);
		CHECK(is_free(numbered_path()));
	}
	return PASSED;
}

const struct test_case window_life_cases[] = {
    {"wlife_idle", "an idle window lets its file go", test_idle},
    {"wlife_let_go", "the program lets the file go", test_let_go},
    {"wlife_abandoned", "a closed descriptor is noticed", test_abandoned},
    {"wlife_foreign_write", "who opens the file for writing, and what is read then",
     test_foreign_write},
    {"wlife_rewritten", "a file rewritten all the time", test_rewritten},
    {"wlife_truncated", "a truncated file gives no signal", test_truncated},
    {"wlife_child", "a child can't use its parent's window", test_child},
    {"wlife_unmap", "unmapping the window ends it", test_unmap},
    {"wlife_close_device", "closing the device ends it", test_close_device},
    {"wlife_death", "exit, kill and exec let the file go", test_death},
    {0},
};
