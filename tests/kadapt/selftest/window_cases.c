// SPDX-License-Identifier: GPL-2.0-or-later
/* Windows: what is read is what pread(2) would have read, on every file system. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device.h"
#include "harness.h"
#include "ring.h"
#include "window.h"

static enum outcome reads_whole(struct test_window *window, int file, size_t bytes, size_t length)
{
	static char record[10000];
	off_t offset = 0;
	ssize_t got;

	while ((got = window_read(window, file, record, length, offset)) > 0) {
		CHECK(is_numbered(record, (size_t)got, offset));
		offset += got;
	}
	CHECK(got == 0 && offset == (off_t)bytes);
	return PASSED;
}

static enum outcome reads_in_sizes(int file, size_t bytes)
{
	static const size_t lengths[] = {1, 7, 13, 64, 500, 4095, 4096, 4097, 9999};

	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		struct test_window window;

		CHECK(window_open(&window, 65536) == 0);
		CHECK(reads_whole(&window, file, bytes, lengths[i]) == PASSED);
		/* Most of it without a call. */
		CHECK(lengths[i] > 500 || window.looks < 200);
		CHECK(window_let_go(&window) == 0);
		close(window.device);
	}
	return PASSED;
}

static enum outcome test_tmpfs(void)
{
	int file = open_numbered(NUMBERED_MAX);

	CHECK(file >= 0);
	return reads_in_sizes(file, NUMBERED_MAX);
}

/* A file system of its own below the scratch folder. */
static const char *mounted(const char *type, const char *options)
{
	static char folder[128];

	snprintf(folder, sizeof(folder), "%s/%s", scratch_folder(), type);
	mkdir(folder, 0700);
	return mount("none", folder, type, 0, options) ? NULL : folder;
}

static enum outcome reads_below(const char *folder)
{
	char path[160];
	int file;

	snprintf(path, sizeof(path), "%s/window.in", folder);
	CHECK(make_numbered(path, NUMBERED_MAX) == 0);
	file = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(file >= 0);
	CHECK(reads_in_sizes(file, NUMBERED_MAX) == PASSED);
	close(file);
	unlink(path);
	return PASSED;
}

static enum outcome test_ramfs(void)
{
	const char *folder = mounted("ramfs", NULL);
	enum outcome outcome;

	CHECK(folder);
	outcome = reads_below(folder);
	CHECK(umount2(folder, MNT_DETACH) == 0);
	return outcome;
}

static enum outcome test_huge_pages(void)
{
	const char *folder = mounted("tmpfs", "huge=always,size=64m");
	enum outcome outcome;

	if (!folder)
		return skip("no huge pages in tmpfs");
	outcome = reads_below(folder);
	CHECK(umount2(folder, MNT_DETACH) == 0);
	return outcome;
}

/* What the guest's own file system is: hostfs, a disk. */
static enum outcome test_root(void)
{
	return reads_below("/tmp");
}

static enum outcome test_sparse(void)
{
	static char record[100], zeros[100];
	struct test_window window;
	int file = open(numbered_path(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	CHECK(pwrite(file, "abc", 3, 0) == 3 && pwrite(file, "xyz", 3, 1000000) == 3);
	close(file);
	file = open(numbered_path(), O_RDONLY | O_CLOEXEC);
	CHECK(window_open(&window, 0) == 0);
	CHECK(window_read(&window, file, record, 3, 0) == 3 && !memcmp(record, "abc", 3));
	CHECK(window_read(&window, file, record, 100, 500000) == 100);
	CHECK(!memcmp(record, zeros, 100));
	/* tmpfs keeps no page of a hole. */
	CHECK_ERRNO(window_look(&window, file, 500000), ENODATA);
	CHECK(window_read(&window, file, record, 10, 1000000) == 3 && !memcmp(record, "xyz", 3));
	return PASSED;
}

static enum outcome test_end(void)
{
	char record[16];
	struct test_window window;
	int file = open_numbered(10000);

	CHECK(window_open(&window, 0) == 0);
	CHECK(window_look(&window, file, 9990) == 0);
	CHECK(window.look.start == 8192 && window.look.end == 10000);
	CHECK(window_copy(&window, record, 10, 9990) && is_numbered(record, 10, 9990));
	CHECK(!window_copy(&window, record, 11, 9990));
	CHECK_ERRNO(window_look(&window, file, 10000), ENODATA);
	CHECK_ERRNO(window_look(&window, file, 1 << 30), ENODATA);
	return PASSED;
}

/* Little at first, more as it goes on. */
static enum outcome test_ramp(void)
{
	struct test_window window;
	int file = open_numbered(NUMBERED_MAX);
	uint64_t shown = 0;

	CHECK(window_open(&window, 262144) == 0);
	for (off_t offset = 0; offset < NUMBERED_MAX; offset = (off_t)window.look.end) {
		CHECK(window_look(&window, file, offset) == 0);
		CHECK(window.look.start == (uint64_t)offset);
		CHECK(window.look.end - window.look.start >= shown ||
		      window.look.end == NUMBERED_MAX);
		shown = window.look.end - window.look.start;
	}
	CHECK(window.looks == 4 + 4);
	return PASSED;
}

static enum outcome patterned(uint32_t pattern)
{
	static char record[300];
	struct test_window window;
	int file = open_numbered(NUMBERED_MAX);

	CHECK(window_open(&window, 65536) == 0);
	window.look.pattern = pattern;
	window.look.record_bytes = sizeof(record);
	window.look.stride_bytes = 5000;
	window.look.readahead_bytes = 65536;
	window.look.flags = KADAPT_LOOK_DROP_BEHIND | KADAPT_LOOK_UNSHARED;
	for (int i = 0; i < 20000; i++) {
		off_t offset = random() % NUMBERED_MAX;
		ssize_t got;

		if (pattern == KADAPT_PATTERN_STRIDED)
			offset = (off_t)i * 5000 % NUMBERED_MAX;
		got = window_read(&window, file, record, sizeof(record), offset);
		CHECK(got == 300 || offset + got == NUMBERED_MAX);
		CHECK(is_numbered(record, (size_t)got, offset));
	}
	return PASSED;
}

static enum outcome test_patterns(void)
{
	for (uint32_t pattern = 0; pattern <= KADAPT_PATTERN_STRIDED; pattern++)
		CHECK(patterned(pattern) == PASSED);
	return PASSED;
}

/* All of a file that fits, whatever is asked for first. */
static enum outcome test_random_fits(void)
{
	char record[16];
	struct test_window window;
	int file = open_numbered(60000);

	CHECK(window_open(&window, 65536) == 0);
	window.look.pattern = KADAPT_PATTERN_RANDOM;
	CHECK(window_look(&window, file, 40000) == 0);
	CHECK(window.look.start == 0 && window.look.end == 60000);
	CHECK(window_copy(&window, record, 16, 3) && is_numbered(record, 16, 3));
	return PASSED;
}

const struct test_case window_cases[] = {
    {"window_tmpfs", "a file of tmpfs in records of odd sizes", test_tmpfs},
    {"window_ramfs", "a file of ramfs", test_ramfs},
    {"window_huge", "a file of huge pages", test_huge_pages},
    {"window_root", "a file of the root's file system", test_root},
    {"window_sparse", "a file with a hole", test_sparse},
    {"window_end", "nothing is shown behind the end", test_end},
    {"window_ramp", "a file read on is shown in larger pieces", test_ramp},
    {"window_patterns", "every pattern reads the same", test_patterns},
    {"window_random_fits", "random records of a file that fits", test_random_fits},
    {0},
};
