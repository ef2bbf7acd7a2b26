// SPDX-License-Identifier: GPL-2.0-or-later
/* Costs of memory and of its first touches, in pages. */

#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "costs.h"

#define WALKED_PAGES 4096L
#define FREED_PAGES 512L

static volatile char *map(long pages)
{
	void *found = mmap(NULL, (size_t)(pages * PAGE), PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return found == MAP_FAILED ? NULL : found;
}

static void unmap(volatile char *memory, long pages)
{
	munmap((void *)memory, (size_t)(pages * PAGE));
}

/* A mapping and its end: two calls. */
long charge_map(long count)
{
	for (long i = 0; i < count; i += 2) {
		volatile char *memory = map(1);

		if (!memory)
			return -1;
		unmap(memory, 1);
	}
	return (count + 1) / 2 * 2;
}

static volatile char *map_small_pages(void)
{
	volatile char *memory = map(WALKED_PAGES);

	if (memory)
		madvise((void *)memory, WALKED_PAGES * PAGE, MADV_NOHUGEPAGE);
	return memory;
}

/*
 * The host of a virtual machine gives memory when it is first touched: on a machine that had just
 * started a fault took 11.4 us, and 1.2 us ever after. Later programs get used pages, as here.
 */
static void touch_all(volatile char *memory)
{
	for (long page = 0; memory && page < WALKED_PAGES; page++)
		memory[page * PAGE] = 1;
}

/*
 * Touches one page at a time, as the profile counts them, whatever the machine's setting for huge
 * pages. Short batches walk through a mapping as large as a program's, so that munmap() is rarely
 * part of a batch.
 */
long charge_fault(long count)
{
	static volatile char *memory;
	static long page = WALKED_PAGES;

	if (!memory) {
		memory = map_small_pages();
		touch_all(memory);
	}
	if (memory && page + count > WALKED_PAGES) {
		unmap(memory, WALKED_PAGES);
		memory = map_small_pages();
		page = 0;
	}
	if (!memory)
		return -1;
	for (long i = 0; i < count; i++, page++)
		memory[page * PAGE] = 1;
	return count;
}

/* Ends pages that are there, piece by piece; they are made in a batch that takes longer. */
long charge_free(long count)
{
	static volatile char *memory;
	static long page = FREED_PAGES;

	if (page + count > FREED_PAGES) {
		memory = map(FREED_PAGES);
		page = 0;
		if (!memory)
			return -1;
		madvise((void *)memory, FREED_PAGES * PAGE, MADV_NOHUGEPAGE);
		for (long i = 0; i < FREED_PAGES; i++)
			memory[i * PAGE] = 1;
	}
	unmap(memory + page * PAGE, count);
	page += count;
	return count;
}

long charge_populate(long count)
{
	volatile char *memory = map(count);
	long done = count;

	if (!memory)
		return -1;
	madvise((void *)memory, (size_t)(count * PAGE), MADV_NOHUGEPAGE);
	if (madvise((void *)memory, (size_t)(count * PAGE), MADV_POPULATE_WRITE))
		done = -1;
	for (long i = 0; i < done; i++)
		memory[i * PAGE] = 1;
	unmap(memory, count);
	return done;
}

/* Walks down from the file's end, to pages that charge_read_page() does not reach. */
long charge_file_fault(long count)
{
	static long end = COLD_PAGES;
	int file = open(COLD_FILE, O_RDONLY | O_CLOEXEC);
	volatile char *memory;
	long sum = 0;

	end -= count;
	if (file < 0 || end < 0)
		return -1;
	memory = mmap(NULL, (size_t)(count * PAGE), PROT_READ, MAP_PRIVATE, file, end * PAGE);
	close(file);
	if (memory == MAP_FAILED)
		return -1;
	for (long i = 0; i < count; i++)
		sum += memory[i * PAGE];
	unmap(memory, count);
	return sum < 0 ? -1 : count;
}
