// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The cost of a page's first touch, by the way to get the page. If the kernel did not offer a way,
 * the program would measure another way instead, so it counts the page faults.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "lab.h"

#define REGION_BYTES (64UL << 20)
#define HUGE_BYTES (2UL << 20)
#define PIECE_BYTES (64UL << 10)
#define PAGE_BYTES 4096UL
#define PAGES (REGION_BYTES / PAGE_BYTES)
/* In faults: other pages are touched as well. */
#define TOLERANCE 2

/* Inside the mapping, aligned for huge pages. */
static char *region;
static void *mapping;
static long faults_before;

static long faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_minflt;
}

static void unmap_region(void)
{
	if (mapping)
		munmap(mapping, REGION_BYTES + HUGE_BYTES);
	mapping = NULL;
}

/* `advice` 0: no advice, the kernel's own policy applies. */
static int map_region(long advice)
{
	unmap_region();
	mapping = mmap(NULL, REGION_BYTES + HUGE_BYTES, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mapping == MAP_FAILED) {
		mapping = NULL;
		return -errno;
	}
	region = (char *)(((uintptr_t)mapping + HUGE_BYTES - 1) & ~(HUGE_BYTES - 1));
	faults_before = faults();
	if (!advice || !madvise(region, REGION_BYTES, advice))
		return 0;
	/* A kernel that has no huge pages refuses the advice against them. */
	return advice == MADV_NOHUGEPAGE && errno == EINVAL ? 0 : -errno;
}

/* Advises every second piece, so that no page larger than a piece fits. */
static int map_pieces(long advice)
{
	int error = map_region(0);

	for (size_t at = 0; !error && at < REGION_BYTES; at += 2 * PIECE_BYTES)
		if (madvise(region + at, PIECE_BYTES, (int)advice))
			error = -errno;
	faults_before = faults();
	return error;
}

static void touch(char *from, size_t bytes)
{
	volatile char *page = from;

	for (size_t at = 0; at < bytes; at += PAGE_BYTES)
		page[at] = 1;
}

static int touch_pages(long unused, long count)
{
	(void)unused;
	touch(region, (size_t)count * PAGE_BYTES);
	return 0;
}

static int touch_pieces(long unused, long count)
{
	size_t pieces = (size_t)count * PAGE_BYTES / PIECE_BYTES;

	(void)unused;
	for (size_t i = 0; i < pieces; i++)
		touch(region + 2 * i * PIECE_BYTES, PIECE_BYTES);
	return 0;
}

static int populate_and_touch(long unused, long count)
{
	if (madvise(region, (size_t)count * PAGE_BYTES, MADV_POPULATE_WRITE))
		return -errno;
	return touch_pages(unused, count);
}

static int faulted_by(size_t bytes, long count)
{
	long most = count * (long)PAGE_BYTES / (long)bytes + TOLERANCE;

	return faults() - faults_before <= most ? 0 : -EOPNOTSUPP;
}

static int faulted_by_huge_pages(long unused, long count)
{
	(void)unused;
	return faulted_by(HUGE_BYTES, count);
}

static int faulted_by_pieces(long unused, long count)
{
	(void)unused;
	return faulted_by(PIECE_BYTES, count);
}

/* The cost of clearing alone, with the instruction that kernels use to clear a page. */
static int clear_pages(long unused, long count)
{
	(void)unused;
	for (long i = 0; i < count; i++) {
		void *to = region + i * (long)PAGE_BYTES;
		unsigned long words = PAGE_BYTES / sizeof(long);

		__asm__ volatile("rep stosq" : "+D"(to), "+c"(words) : "a"(0L) : "memory");
	}
	return 0;
}

static int map_and_touch(long unused)
{
	int error = map_region(MADV_NOHUGEPAGE);

	return error ? error : touch_pages(unused, PAGES);
}

#define OF_A_PAGE .unit = "ns", .finish = unmap_region

const struct operation page_operations[] = {
    {.name = "page", OF_A_PAGE, .batch = PAGES, .rewind = map_region, .run = touch_pages},
    {
	.name = "page_small",
	OF_A_PAGE,
	.argument = MADV_NOHUGEPAGE,
	.batch = PAGES,
	.rewind = map_region,
	.run = touch_pages,
    },
    {
	.name = "page_populated",
	OF_A_PAGE,
	.argument = MADV_NOHUGEPAGE,
	.batch = PAGES,
	.rewind = map_region,
	.run = populate_and_touch,
    },
    {
	.name = "page_huge",
	OF_A_PAGE,
	.argument = MADV_HUGEPAGE,
	.batch = PAGES,
	.rewind = map_region,
	.run = touch_pages,
	.verify = faulted_by_huge_pages,
    },
    {
	.name = "page_64k",
	OF_A_PAGE,
	.argument = MADV_HUGEPAGE,
	.batch = PAGES / 2,
	.rewind = map_pieces,
	.run = touch_pieces,
	.verify = faulted_by_pieces,
    },
    {
	.name = "page_clear",
	OF_A_PAGE,
	.batch = PAGES,
	.rewind = map_and_touch,
	.run = clear_pages,
    },
    {0},
};
