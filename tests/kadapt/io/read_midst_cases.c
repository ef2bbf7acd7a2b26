// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What happens in the midst of a read without a call: the record goes to a page
 * that may not be written, so that a handler runs between the look at the
 * position and the moment when it moves.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cases.h"
#include "libkadapt.h"
#include "numbers.h"

#define PAGE 4096

static uint64_t *page;
static int file;
static int (*in_the_midst)(void);
static int did;

static void handle(int number)
{
	(void)number;
	mprotect(page, PAGE, PROT_READ | PROT_WRITE);
	did = in_the_midst();
}

/* BURST records are read, then one with that in its midst, then ten from `next` on. */
static enum outcome read_with(int (*function)(void), uint64_t expected, int next)
{
	in_the_midst = function;
	page = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(page != MAP_FAILED);
	signal(SIGSEGV, handle);
	file = numbers_open(NUMBERS);
	CHECK(numbers_read(file, 0, BURST) == BURST);
	CHECK(kernels_position(file) < BURST * NUMBER_BYTES);
	CHECK(kadapt_read(file, page, sizeof(*page)) == NUMBER_BYTES);
	CHECK(did);
	CHECK_FOR(*page == expected, *page);
	CHECK(numbers_read(file, next, next + 10) == 10);
	close(file);
	return PASSED;
}

static int read_too(void)
{
	return numbers_read(file, BURST, BURST + 1) == 1;
}

static int read_many(void)
{
	return numbers_read(file, BURST, NUMBERS / 2) == NUMBERS / 2 - BURST;
}

static int seek(void)
{
	return lseek(file, 5000 * NUMBER_BYTES, SEEK_SET) == 5000 * NUMBER_BYTES;
}

static int replace(void)
{
	close(file);
	return numbers_open(NUMBERS) == file;
}

static int change(void)
{
	uint64_t number = 7777;
	int writer = open(numbers_path(), O_WRONLY);
	int written = pwrite(writer, &number, sizeof(number), BURST * NUMBER_BYTES) == NUMBER_BYTES;

	close(writer);
	return written;
}

static int fork_reader(void)
{
	pid_t child = fork();

	if (child == 0)
		_exit(!read_too());
	return child_did(child);
}

static enum outcome test_read(void)
{
	return read_with(read_too, BURST + 1, BURST + 2);
}

static enum outcome test_many(void)
{
	return read_with(read_many, NUMBERS / 2, NUMBERS / 2 + 1);
}

static enum outcome test_seek(void)
{
	return read_with(seek, 5000, 5001);
}

static enum outcome test_replace(void)
{
	return read_with(replace, 0, 1);
}

static enum outcome test_change(void)
{
	return read_with(change, 7777, BURST + 1);
}

static enum outcome test_fork(void)
{
	return read_with(fork_reader, BURST + 1, BURST + 2);
}

const struct test_case read_midst_cases[] = {
    {"read_midst_read", "a handler reads the record", test_read},
    {"read_midst_many", "a handler reads far ahead", test_many},
    {"read_midst_seek", "a handler moves the position", test_seek},
    {"read_midst_replace", "a handler opens another file by the number", test_replace},
    {"read_midst_change", "the record is written to", test_change},
    {"read_midst_fork", "a child reads the record", test_fork},
    {0},
};
