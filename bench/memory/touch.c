// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * touch: measures the cost of fresh memory, by the way to get it.
 *
 *	touch WAY MEBIBYTES ROUNDS
 *
 * Each round maps MEBIBYTES of memory, makes it present by WAY, writes to every page in order, and
 * unmaps it. Each round prints a JSON line, with figures per page:
 *
 *	{"round": 0, "populate_ns": 812.1, "touch_ns": 1530.9, "faults": 0.002}
 *
 * In a guest that has just booted, the first round uses memory that the guest has never used, and
 * that its host has not given it yet. Later rounds use memory that was used and freed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "kadapt.h"

#define DEVICE "/dev/kadapt"
#define PAGE_BYTES 4096UL
#define ALIGNMENT (2UL << 20)
#define ARGUMENTS 4

struct way {
	const char *name;
	int (*prepare)(char *memory, size_t bytes, uint32_t flags);
	uint32_t flags;
};

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static long faults(void)
{
	struct rusage used;

	getrusage(RUSAGE_SELF, &used);
	return used.ru_minflt + used.ru_majflt;
}

static void fail(const char *what)
{
	fprintf(stderr, "touch: %s: %s\n", what, strerror(errno));
	exit(EXIT_FAILURE);
}

static int nothing(char *memory, size_t bytes, uint32_t flags)
{
	(void)memory;
	(void)bytes;
	(void)flags;
	return 0;
}

static int populate(char *memory, size_t bytes, uint32_t flags)
{
	(void)flags;
	return madvise(memory, bytes, MADV_POPULATE_WRITE);
}

static int advise_huge(char *memory, size_t bytes, uint32_t flags)
{
	(void)flags;
	return madvise(memory, bytes, MADV_HUGEPAGE);
}

/*
 * The host's part of a guest's page: User-Mode Linux has its memory in such a file. In the first
 * round the file has no pages yet.
 */
static int map_file(char *memory, size_t bytes, uint32_t flags)
{
	static int file = -1;
	const int share = MAP_SHARED | MAP_FIXED | MAP_POPULATE;

	(void)flags;
	if (file < 0)
		file = memfd_create("touch", MFD_CLOEXEC);
	if (file < 0 || ftruncate(file, (off_t)bytes))
		return -1;
	return mmap(memory, bytes, PROT_READ | PROT_WRITE, share, file, 0) == MAP_FAILED ? -1 : 0;
}

/* Opens the device only once, as a program does when it starts. */
static int bind(char *memory, size_t bytes, uint32_t flags)
{
	static int device = -1;
	struct kadapt_memory range = {
	    .address = (uintptr_t)memory,
	    .bytes = bytes,
	    .flags = flags,
	};

	if (device < 0)
		device = open(DEVICE, O_RDWR | O_CLOEXEC);
	return device < 0 ? -1 : ioctl(device, KADAPT_MEMORY, &range);
}

static const struct way ways[] = {
    {"plain", nothing, 0},
    {"populate", populate, 0},
    {"huge", advise_huge, 0},
    {"file", map_file, 0},
    {"ahead", bind, KADAPT_MEMORY_AHEAD},
    {"dense", bind, KADAPT_MEMORY_DENSE},
    {"now", bind, KADAPT_MEMORY_DENSE | KADAPT_MEMORY_NOW},
};

static const struct way *find(const char *name)
{
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		if (strcmp(ways[i].name, name) == 0)
			return &ways[i];
	return NULL;
}

static void touch(volatile char *memory, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += PAGE_BYTES)
		memory[at] = 1;
}

static void one_round(const struct way *way, size_t bytes, int round)
{
	char *mapping = mmap(NULL, bytes + ALIGNMENT, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *memory = (char *)(((uintptr_t)mapping + ALIGNMENT - 1) & ~(ALIGNMENT - 1));
	double pages = (double)(bytes / PAGE_BYTES), began, prepared, ended;
	long before = faults();

	if (mapping == MAP_FAILED)
		fail("mmap");
	began = now_ns();
	if (way->prepare(memory, bytes, way->flags))
		fail(way->name);
	prepared = now_ns();
	touch(memory, bytes);
	ended = now_ns();
	printf("{\"round\": %d, \"populate_ns\": %.1f, \"touch_ns\": %.1f, \"faults\": %.5f}\n",
	       round, (prepared - began) / pages, (ended - prepared) / pages,
	       (double)(faults() - before) / pages);
	munmap(mapping, bytes + ALIGNMENT);
}

/* A whole number from 1 to a million; 0 for anything else. */
static int number(const char *text)
{
	char *end;
	long value = strtol(text, &end, 10);

	return *end || value < 1 || value > 1000000 ? 0 : (int)value;
}

int main(int argc, char **argv)
{
	const struct way *way = argc == ARGUMENTS ? find(argv[1]) : NULL;
	int mebibytes = way ? number(argv[2]) : 0;
	int rounds = way ? number(argv[3]) : 0;

	if (mebibytes == 0 || rounds == 0) {
		fputs("usage: touch WAY MEBIBYTES ROUNDS\n", stderr);
		return 2;
	}
	for (int round = 0; round < rounds; round++)
		one_round(way, (size_t)mebibytes << 20, round);
	return EXIT_SUCCESS;
}
