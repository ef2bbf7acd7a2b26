// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a window's pattern has read into memory, and that readahead is as it was
 * after: told by mincore(2). Needs a file system on a
 * disk.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "device.h"
#include "harness.h"
#include "ring.h"
#include "window.h"

#define PAGE 4096
#define PAGES 512
#define BYTES ((size_t)PAGES * PAGE)

/* Where the disk is mounted; NULL without one. */
static const char *disk(void)
{
	static const char *const devices[] = {"/dev/ubda", "/dev/ram0"};
	static char folder[64];
	struct statfs about;

	snprintf(folder, sizeof(folder), "%s/disk", scratch_folder());
	mkdir(folder, 0700);
	for (size_t i = 0; i < sizeof(devices) / sizeof(*devices); i++)
		if (statfs(folder, &about) || about.f_type != EXT4_SUPER_MAGIC)
			mount(devices[i], folder, "ext4", 0, NULL);
	if (statfs(folder, &about) || about.f_type != EXT4_SUPER_MAGIC)
		return NULL;
	return folder;
}

/* Nothing of the file is in memory. */
static int forget(int file)
{
	return fsync(file) || posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
}

static int cold_file(void)
{
	static char page[PAGE] = "p";
	char path[80];
	int file;

	snprintf(path, sizeof(path), "%s/pattern.in", disk());
	file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	for (int i = 0; i < PAGES; i++)
		if (write(file, page, PAGE) != PAGE)
			return -1;
	if (forget(file) || close(file))
		return -1;
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* How many pages of these are in memory? */
static int in_memory(int file, int first, int count)
{
	static unsigned char is_there[PAGES];
	void *memory = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, file, 0);
	int pages = 0;

	if (memory == MAP_FAILED || mincore(memory, BYTES, is_there))
		return -1;
	munmap(memory, BYTES);
	for (int i = first; i < first + count; i++)
		pages += is_there[i] & 1;
	return pages;
}

/* It is being read while the program goes on. */
static bool comes_into_memory(int file, int first, int count)
{
	for (int i = 0; i < 1000 && in_memory(file, first, count) < count; i++)
		sleep_for(NS_PER_MS);
	return in_memory(file, first, count) == count;
}

/* How much does read(2) of a byte bring into memory? */
static int read_by_a_byte(int file, int page)
{
	char byte;

	if (forget(file) || pread(file, &byte, 1, (off_t)page * PAGE) != 1)
		return -1;
	return in_memory(file, 0, PAGES);
}

static enum outcome test_random(void)
{
	struct test_window window;
	int file, usual;

	if (!disk())
		return skip("no disk");
	file = cold_file();
	usual = read_by_a_byte(file, 0);
	CHECK(usual > 1 && forget(file) == 0);
	CHECK(window_open(&window, 65536) == 0);
	window.look.pattern = KADAPT_PATTERN_RANDOM;
	window.look.record_bytes = 100;
	CHECK(window_look(&window, file, 100 * PAGE) == 0);
	CHECK(window.look.end - window.look.start == PAGE);
	CHECK(in_memory(file, 0, PAGES) == 1 && in_memory(file, 100, 1) == 1);
	CHECK(window_let_go(&window) == 0);
	CHECK(read_by_a_byte(file, 0) == usual);
	return PASSED;
}

static enum outcome test_sequential(void)
{
	struct test_window window;
	int file;

	if (!disk())
		return skip("no disk");
	file = cold_file();
	CHECK(posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM) == 0);
	CHECK(read_by_a_byte(file, 0) == 1 && forget(file) == 0);
	CHECK(window_open(&window, 65536) == 0);
	window.look.pattern = KADAPT_PATTERN_SEQUENTIAL;
	window.look.readahead_bytes = 524288;
	CHECK(window_look(&window, file, 0) == 0);
	CHECK(window.look.end == 65536);
	CHECK(window_look(&window, file, 65536) == 0);
	/* What comes next is read while this is looked at. */
	CHECK(comes_into_memory(file, 32, 16));
	CHECK(window_let_go(&window) == 0);
	/* The program's own advice is back. */
	CHECK(read_by_a_byte(file, 200) == 1);
	return PASSED;
}

static enum outcome test_strided(void)
{
	struct test_window window;
	int file;

	if (!disk())
		return skip("no disk");
	file = cold_file();
	CHECK(window_open(&window, 16384) == 0);
	window.look.pattern = KADAPT_PATTERN_STRIDED;
	window.look.record_bytes = 1000;
	window.look.stride_bytes = 10 * PAGE;
	window.look.readahead_bytes = 4000;
	CHECK(window_look(&window, file, 0) == 0);
	/* This record's page and the next four's. */
	for (int record = 0; record <= 4; record++)
		CHECK(comes_into_memory(file, record * 10, 1));
	CHECK(in_memory(file, 0, PAGES) == 5);
	return PASSED;
}

static enum outcome test_drop_behind(void)
{
	struct test_window window;
	int file;

	if (!disk())
		return skip("no disk");
	file = cold_file();
	CHECK(window_open(&window, 65536) == 0);
	window.look.pattern = KADAPT_PATTERN_SEQUENTIAL;
	window.look.flags = KADAPT_LOOK_DROP_BEHIND;
	for (int page = 0; page < 128; page += 16)
		CHECK(window_look(&window, file, (off_t)page * PAGE) == 0);
	CHECK(in_memory(file, 0, 112) == 0 && in_memory(file, 112, 16) == 16);
	return PASSED;
}

const struct test_case pattern_cases[] = {
    {"pattern_random", "a record's page is read, and readahead returns", test_random},
    {"pattern_sequential", "the file is read ahead, and fadvise(2)'s advice returns",
     test_sequential},
    {"pattern_strided", "the next records are read, and nothing between", test_strided},
    {"pattern_drop_behind", "what lies behind leaves memory", test_drop_behind},
    {0},
};
