// SPDX-License-Identifier: GPL-2.0-or-later
/* What KADAPT_MEMORY makes present, page by page, and what it leaves alone. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device.h"
#include "harness.h"
#include "memory.h"

static enum outcome test_dense(void)
{
	char *memory = fresh_memory(4 * CHUNK);
	int device = open_device();
	long before;

	CHECK(memory && bind_memory(device, memory, 4 * CHUNK, KADAPT_MEMORY_DENSE) == 0);
	CHECK(resident(memory, 4 * CHUNK) == 0);
	before = faults();
	memory[CHUNK + 5 * PAGE] = 1;
	CHECK(faults() - before == 1);
	CHECK(resident(memory, CHUNK) == 0);
	CHECK(resident(memory + CHUNK, CHUNK) == CHUNK_PAGES);
	CHECK(resident(memory + 2 * CHUNK, 2 * CHUNK) == 0);
	CHECK(is_zero(memory + CHUNK, 5 * PAGE) && memory[CHUNK + 5 * PAGE] == 1);
	CHECK(is_zero(memory + CHUNK + 5 * PAGE + 1, CHUNK - 5 * PAGE - 1));
	/* One fault for each of the other three chunks. */
	CHECK(write_pages(memory, 4 * CHUNK_PAGES) == 3);
	return PASSED;
}

static enum outcome test_dense_chunk(void)
{
	struct kadapt_memory request = {.flags = KADAPT_MEMORY_DENSE, .chunk_bytes = 4 * PAGE};
	char *memory = fresh_memory(CHUNK);
	int device = open_device();

	request.address = (uintptr_t)memory;
	request.bytes = CHUNK;
	CHECK(memory && ioctl(device, KADAPT_MEMORY, &request) == 0);
	CHECK(request.chunk_bytes == 4 * PAGE && request.done == 0);
	memory[7 * PAGE] = 1;
	CHECK(resident(memory, 4 * PAGE) == 0);
	CHECK(resident(memory + 4 * PAGE, 4 * PAGE) == 4);
	CHECK(resident(memory + 8 * PAGE, CHUNK - 8 * PAGE) == 0);
	return PASSED;
}

/* A fault makes nothing present beyond the range or the mapping. */
static enum outcome test_dense_edges(void)
{
	char *memory = fresh_memory(2 * CHUNK);
	int device = open_device();

	CHECK(memory && munmap(memory + CHUNK - 3 * PAGE, PAGE) == 0);
	CHECK(bind_memory(device, memory + 10 * PAGE, CHUNK, KADAPT_MEMORY_DENSE) == 0);
	memory[20 * PAGE] = 1;
	CHECK(resident(memory, 10 * PAGE) == 0);
	CHECK(resident(memory + 10 * PAGE, CHUNK - 13 * PAGE) == CHUNK_PAGES - 13);
	CHECK(resident(memory + CHUNK - 2 * PAGE, 2 * PAGE) == 0);
	memory[CHUNK] = 1;
	CHECK(resident(memory + CHUNK, CHUNK) == 10);
	return PASSED;
}

/*
 * Returns the number of faults that uapi/kadapt.h promises a program that writes page
 * after page. Each fault makes twice as much present, up to a chunk. If the program
 * writes zeroes, the page behind each run comes alone.
 */
static long expected_faults(size_t pages, char value)
{
	size_t written = 0;
	long count = 0;

	while (written < pages) {
		size_t ahead = written < CHUNK_PAGES ? written : CHUNK_PAGES;

		/* The page that faults, and the pages that come with it. */
		written += 1 + ahead;
		count++;
		if (!value && ahead && written < pages) {
			written++;
			count++;
		}
	}
	return count;
}

/* Writes a byte into each page, in either direction, and counts the faults. */
static long faults_in_order(char *memory, size_t pages, bool downwards, char value)
{
	long before = faults();

	for (size_t i = 0; i < pages; i++) {
		size_t page = downwards ? pages - 1 - i : i;

		*(volatile char *)(memory + page * PAGE) = value;
	}
	return faults() - before;
}

static enum outcome test_ahead_in_order(bool downwards)
{
	size_t bytes = 8 * CHUNK, pages = bytes / PAGE;
	int device = open_device();

	for (char value = 0; value < 2; value++) {
		char *memory = fresh_memory(bytes);
		long took;

		CHECK(memory && bind_memory(device, memory, bytes, KADAPT_MEMORY_AHEAD) == 0);
		took = faults_in_order(memory, pages, downwards, value);
		note("%ld faults for %zu pages of %d", took, pages, value);
		CHECK(took == expected_faults(pages, value));
		CHECK(resident(memory, bytes) == pages);
		munmap(memory, bytes);
	}
	return PASSED;
}

static enum outcome test_ahead_upwards(void)
{
	return test_ahead_in_order(false);
}

static enum outcome test_ahead_downwards(void)
{
	return test_ahead_in_order(true);
}

/*
 * Memory that grows as a heap does, and is written whole before it grows again. The
 * first page of each growth follows a run that ended at the end of the writable memory.
 */
static enum outcome test_ahead_growth(void)
{
	enum { GROWTHS = 16, GROWTH_PAGES = 33 };
	size_t bytes = GROWTHS * GROWTH_PAGES * PAGE;
	char *memory = fresh_memory(bytes);
	int device = open_device();
	long took;

	CHECK(memory && bind_memory(device, memory, bytes, KADAPT_MEMORY_AHEAD) == 0);
	CHECK(mprotect(memory, bytes, PROT_NONE) == 0);
	for (size_t grown = 0; grown < bytes; grown += GROWTH_PAGES * PAGE) {
		CHECK(mprotect(memory, grown + GROWTH_PAGES * PAGE, PROT_READ | PROT_WRITE) == 0);
		took = faults_in_order(memory + grown, GROWTH_PAGES, false, 1);
		note("%ld faults for growth at page %zu", took, grown / PAGE);
		CHECK(took == (grown ? 1 : expected_faults(GROWTH_PAGES, 1)));
	}
	return PASSED;
}

/* If a program writes in steps of two, three, ... pages, only the written pages are present. */
static enum outcome test_ahead_steps(void)
{
	int device = open_device();

	for (size_t step = 2; step <= 9; step++) {
		size_t pages = 4 * CHUNK_PAGES, written = 0;
		char *memory = fresh_memory(pages * PAGE);

		CHECK(memory &&
		      bind_memory(device, memory, pages * PAGE, KADAPT_MEMORY_AHEAD) == 0);
		for (size_t i = 0; i < pages; i += step, written++)
			memory[i * PAGE] = 1;
		CHECK(resident(memory, pages * PAGE) == written);
		munmap(memory, pages * PAGE);
	}
	return PASSED;
}

/* Writes two chunks whole, then every fourth page: at most a chunk more is present. */
static enum outcome test_ahead_thins_out(void)
{
	size_t pages = 16 * CHUNK_PAGES, written = 0;
	char *memory = fresh_memory(pages * PAGE);
	int device = open_device();
	size_t present;

	CHECK(memory && bind_memory(device, memory, pages * PAGE, KADAPT_MEMORY_AHEAD) == 0);
	for (size_t i = 0; i < pages; i += i < 2 * CHUNK_PAGES ? 1 : 4, written++)
		memory[i * PAGE] = 1;
	present = resident(memory, pages * PAGE);
	note("%zu written, %zu present", written, present);
	CHECK(present >= written && present <= written + CHUNK_PAGES);
	return PASSED;
}

#define STARTS 24

/* Writes zeroes and stops: the pages do not show that they were written. */
static enum outcome test_ahead_bound(void)
{
	size_t written = CHUNK_PAGES + 10, present = 0;
	int device = open_device();

	for (int i = 0; i < STARTS; i++) {
		char *memory = fresh_memory(4 * CHUNK);

		CHECK(memory && bind_memory(device, memory, 4 * CHUNK, KADAPT_MEMORY_AHEAD) == 0);
		for (size_t page = 0; page < written; page++)
			*(volatile char *)(memory + page * PAGE) = 0;
		present += resident(memory, 4 * CHUNK);
	}
	note("%zu written, %zu present", STARTS * written, present);
	CHECK(present > STARTS * written);
	CHECK((present - STARTS * written) * PAGE <= KADAPT_MEMORY_AHEAD_MAX);
	return PASSED;
}

static enum outcome test_plain(void)
{
	char *memory = fresh_memory(3 * CHUNK);
	int device = open_device();

	CHECK(memory && bind_memory(device, memory, 3 * CHUNK, KADAPT_MEMORY_DENSE) == 0);
	CHECK(bind_memory(device, memory + CHUNK, CHUNK, KADAPT_MEMORY_PLAIN) == 0);
	CHECK(write_pages(memory + CHUNK, CHUNK_PAGES) == CHUNK_PAGES);
	CHECK(write_pages(memory, CHUNK_PAGES) == 1);
	CHECK(write_pages(memory + 2 * CHUNK, CHUNK_PAGES) == 1);
	return PASSED;
}

static enum outcome test_plain_phase(void)
{
	struct kadapt_policy plain = {.phase = 1, .flags = KADAPT_POLICY_MEMORY_PLAIN};
	char *memory = fresh_memory(4 * CHUNK);
	int device = open_device();

	CHECK(define(device, 0, 0) == 0 && ioctl(device, KADAPT_DEFINE, &plain) == 0);
	CHECK(memory && bind_memory(device, memory, 4 * CHUNK, KADAPT_MEMORY_DENSE) == 0);
	CHECK(write_pages(memory, CHUNK_PAGES) == 1);
	CHECK(enter(device, 1) == 0);
	CHECK(write_pages(memory + CHUNK, CHUNK_PAGES) == CHUNK_PAGES);
	CHECK(enter(device, 0) == 0);
	CHECK(write_pages(memory + 2 * CHUNK, CHUNK_PAGES) == 1);
	CHECK(enter(device, 1) == 0 && leave(device) == 0);
	CHECK(write_pages(memory + 3 * CHUNK, CHUNK_PAGES) == 1);
	return PASSED;
}

/* Where two calls overlap, the later one counts. */
static enum outcome test_overlap(void)
{
	char *memory = fresh_memory(3 * CHUNK);
	int device = open_device();

	CHECK(memory && bind_memory(device, memory, 2 * CHUNK, KADAPT_MEMORY_DENSE) == 0);
	CHECK(bind_memory(device, memory + CHUNK, 2 * CHUNK, KADAPT_MEMORY_AHEAD) == 0);
	memory[3 * PAGE] = memory[CHUNK + 3 * PAGE] = 1;
	CHECK(resident(memory, CHUNK) == CHUNK_PAGES);
	CHECK(resident(memory + CHUNK, 2 * CHUNK) == 1);
	CHECK(bind_memory(device, memory, 3 * CHUNK, KADAPT_MEMORY_DENSE) == 0);
	memory[CHUNK + 4 * PAGE] = 1;
	CHECK(resident(memory + CHUNK, 2 * CHUNK) == CHUNK_PAGES);
	return PASSED;
}

/* Each read gets the page of zeroes. The first write then makes the chunk present. */
static enum outcome test_read(void)
{
	char *memory = fresh_memory(CHUNK);
	int device = open_device();
	long before;

	CHECK(memory && bind_memory(device, memory, CHUNK, KADAPT_MEMORY_DENSE) == 0);
	before = faults();
	for (size_t i = 0; i < 100; i++)
		CHECK(*(volatile char *)(memory + i * PAGE) == 0);
	CHECK(faults() - before == 100);
	CHECK(resident(memory, CHUNK) == 100);
	CHECK(write_pages(memory, CHUNK_PAGES) == 1);
	CHECK(resident(memory, CHUNK) == CHUNK_PAGES);
	for (size_t i = 0; i < CHUNK_PAGES; i++)
		CHECK(memory[i * PAGE] == (char)(i + 1) &&
		      is_zero(memory + i * PAGE + 1, PAGE - 1));
	return PASSED;
}

static enum outcome test_now(void)
{
	struct kadapt_memory request = {.flags = KADAPT_MEMORY_DENSE | KADAPT_MEMORY_NOW};
	char *memory = fresh_memory(4 * CHUNK);
	int device = open_device();

	CHECK(memory && munmap(memory + CHUNK, CHUNK) == 0);
	memory[3 * PAGE] = 1;
	request.address = (uintptr_t)memory;
	request.bytes = 3 * CHUNK;
	CHECK(ioctl(device, KADAPT_MEMORY, &request) == 0);
	CHECK(request.done == 2 * CHUNK - PAGE);
	CHECK(resident(memory, CHUNK) == CHUNK_PAGES);
	CHECK(resident(memory + 2 * CHUNK, 2 * CHUNK) == CHUNK_PAGES);
	CHECK(memory[3 * PAGE] == 1);
	memory[3 * PAGE] = 0;
	CHECK(is_zero(memory, CHUNK) && is_zero(memory + 2 * CHUNK, CHUNK));
	CHECK(write_pages(memory + 2 * CHUNK, CHUNK_PAGES) == 0);
	request.done = 1;
	CHECK(ioctl(device, KADAPT_MEMORY, &request) == 0 && request.done == 0);
	return PASSED;
}

static enum outcome test_counted(void)
{
	struct kadapt_counters counters = {0};
	char *memory = fresh_memory(2 * CHUNK);
	int device = open_device();

	CHECK(define(device, 0, 0) == 0);
	CHECK(memory && bind_memory(device, memory, 2 * CHUNK, KADAPT_MEMORY_DENSE) == 0);
	memory[0] = 1;
	CHECK(enter(device, 0) == 0);
	memory[CHUNK] = 1;
	CHECK(leave(device) == 0);
	CHECK(ioctl(device, KADAPT_COUNTERS, &counters) == 0);
	CHECK(counters.populated_bytes == CHUNK - PAGE);
	CHECK(counters.minor_faults >= 1 && counters.minor_faults < 10);
	return PASSED;
}

const struct test_case memory_cases[] = {
    {"memory_dense", "a fault brings its chunk, zeroes, and nothing else", test_dense},
    {"memory_dense_chunk", "chunks as small as the program likes", test_dense_chunk},
    {"memory_dense_edges", "nothing beyond range and mapping", test_dense_edges},
    {"memory_ahead_upwards", "page after page: as many faults as foretold", test_ahead_upwards},
    {"memory_ahead_downwards", "the same from the end", test_ahead_downwards},
    {"memory_ahead_growth", "a fault for each growth of a heap", test_ahead_growth},
    {"memory_ahead_steps", "who writes in steps gets single pages", test_ahead_steps},
    {"memory_ahead_thins_out", "who begins to write in steps, too", test_ahead_thins_out},
    {"memory_ahead_bound", "what writers leave behind is bounded", test_ahead_bound},
    {"memory_plain", "a range in the middle as if never named", test_plain},
    {"memory_plain_phase", "a phase with faults as on any kernel", test_plain_phase},
    {"memory_overlap", "the later call counts", test_overlap},
    {"memory_read", "reading shows zeroes and takes no memory", test_read},
    {"memory_now", "all that is mapped, at once", test_now},
    {"memory_counted", "the phase's counters tell what was populated", test_counted},
    {0},
};
