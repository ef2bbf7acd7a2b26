// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Thousands of operations on memory with ranges of all kinds, in random order. The case
 * notes what each page must hold, and compares.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device.h"
#include "harness.h"
#include "memory.h"

#define PAGES (6 * CHUNK_PAGES)
#define STEPS 800
#define SEEDS 4

/* A part of the memory, and notes about all of the memory. */
struct part {
	char *memory;
	int device;
	size_t first, count;
	/* The value of every byte of each page. */
	unsigned char *holds;
	bool *read_only;
};

static size_t below(size_t limit)
{
	return (size_t)random() % limit;
}

static char *address_of(const struct part *part)
{
	return part->memory + part->first * PAGE;
}

static void note_part(const struct part *part, unsigned char value)
{
	memset(part->holds + part->first, value, part->count);
}

static bool bind_part(const struct part *part)
{
	static const uint32_t kinds[] = {KADAPT_MEMORY_AHEAD, KADAPT_MEMORY_DENSE,
					 KADAPT_MEMORY_DENSE | KADAPT_MEMORY_NOW,
					 KADAPT_MEMORY_PLAIN};
	struct kadapt_memory request = {
	    .address = (uintptr_t)address_of(part),
	    .bytes = part->count * PAGE,
	    .flags = kinds[below(4)],
	    .chunk_bytes = PAGE << below(11),
	};

	return ioctl(part->device, KADAPT_MEMORY, &request) == 0 || errno == ENOSPC;
}

static bool write_part(const struct part *part)
{
	unsigned char value = (unsigned char)random();

	for (size_t i = 0; i < part->count; i++) {
		size_t page = part->first + i;

		if (part->read_only[page])
			continue;
		memset(part->memory + page * PAGE, value, PAGE);
		part->holds[page] = value;
	}
	return true;
}

static bool drop_part(const struct part *part)
{
	note_part(part, 0);
	return madvise(address_of(part), part->count * PAGE, MADV_DONTNEED) == 0;
}

static bool map_part_anew(const struct part *part)
{
	note_part(part, 0);
	memset(part->read_only + part->first, 0, part->count);
	return mmap(address_of(part), part->count * PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == address_of(part);
}

static bool protect_part(const struct part *part)
{
	bool read_only = random() % 2;

	memset(part->read_only + part->first, read_only, part->count);
	return mprotect(address_of(part), part->count * PAGE,
			PROT_READ | (read_only ? 0 : PROT_WRITE)) == 0;
}

static bool part_is_as_noted(const struct part *part)
{
	for (size_t page = part->first; page < part->first + part->count; page++) {
		const unsigned char *bytes = (unsigned char *)part->memory + page * PAGE;

		if (*bytes != part->holds[page] || memcmp(bytes, bytes + 1, PAGE - 1))
			return false;
	}
	return true;
}

static int use_as_a_child(void *argument)
{
	const struct part *part = argument;

	return !(part_is_as_noted(part) && write_part(part) && part_is_as_noted(part));
}

static bool use_in_a_child(const struct part *part)
{
	return in_child(use_as_a_child, (void *)part) == 0;
}

static bool do_something(struct part *part)
{
	bool (*const things[])(const struct part *) = {
	    write_part, write_part, write_part,	   part_is_as_noted, part_is_as_noted,
	    bind_part,	drop_part,  map_part_anew, protect_part,
	};

	part->first = below(PAGES);
	part->count = 1 + below(random() % 4 ? 16 : PAGES);
	if (part->count > PAGES - part->first)
		part->count = PAGES - part->first;
	if (below(50) == 0)
		return use_in_a_child(part);
	return things[below(sizeof(things) / sizeof(*things))](part);
}

static enum outcome test_random(void)
{
	struct part part = {
	    .memory = fresh_memory(PAGES * PAGE),
	    .device = open_device(),
	    .holds = calloc(PAGES, 1),
	    .read_only = calloc(PAGES, sizeof(bool)),
	};

	CHECK(part.memory && part.holds && part.read_only);
	for (unsigned int seed = 1; seed <= SEEDS; seed++) {
		srandom(seed);
		for (int step = 0; step < STEPS; step++) {
			if (do_something(&part))
				continue;
			note("seed %u, step %d, page %zu and %zu more", seed, step, part.first,
			     part.count - 1);
			return FAILED;
		}
		part.first = 0;
		part.count = PAGES;
		CHECK(part_is_as_noted(&part));
	}
	return PASSED;
}

static void populate_for_ever(int device)
{
	for (unsigned int round = 0;; round++) {
		char *memory = fresh_memory(8 * CHUNK);

		if (!memory || bind_memory(device, memory, 4 * CHUNK, KADAPT_MEMORY_DENSE) ||
		    bind_memory(device, memory + 4 * CHUNK, 4 * CHUNK, KADAPT_MEMORY_AHEAD))
			_exit(1);
		write_pages(memory, 8 * CHUNK_PAGES);
		if (round % 2)
			munmap(memory, 8 * CHUNK);
		else
			bind_memory(device, memory, 8 * CHUNK, KADAPT_MEMORY_PLAIN);
		if (round % 5 == 4)
			execl("/proc/self/exe", "kadapt-selftest", NO_CASE, NULL);
	}
}

static size_t free_bytes(void)
{
	struct sysinfo machine;

	return sysinfo(&machine) ? 0 : machine.freeram;
}

#define KILLS 60
/* Memory that the kernel holds ready. A process had up to 48 MiB when it was killed. */
#define SLACK (2 * CHUNK)

/* Processes that are killed at any point leave no memory in use. */
static enum outcome test_killed(void)
{
	size_t before = free_bytes();

	srandom(1);
	for (int i = 0; i < KILLS; i++) {
		pid_t pid = fork();

		CHECK(pid >= 0);
		if (pid == 0)
			populate_for_ever(open_device());
		sleep_for((int64_t)below(60 * NS_PER_MS));
		kill(pid, SIGKILL);
		CHECK(waitpid(pid, NULL, 0) == pid);
	}
	/* The kernel frees the rest of a process a little after its end. */
	for (int i = 0; i < 100 && free_bytes() + SLACK < before; i++)
		sleep_for(10 * NS_PER_MS);
	note("%zu bytes free before, %zu after", before, free_bytes());
	CHECK(free_bytes() + SLACK >= before);
	return PASSED;
}

const struct test_case memory_random_cases[] = {
    {"memory_random", "3,200 random steps, and every page holds what it should", test_random},
    {"memory_killed", "60 processes killed at any point leave nothing behind", test_killed},
    {0},
};
