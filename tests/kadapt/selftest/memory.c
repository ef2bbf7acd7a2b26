// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "memory.h"

char *fresh_memory_with(size_t bytes, int map_flags)
{
	char *all = mmap(NULL, bytes + CHUNK, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | map_flags, -1, 0);
	size_t before = CHUNK - (uintptr_t)all % CHUNK;

	if (all == MAP_FAILED)
		return NULL;
	munmap(all, before);
	if (before < CHUNK)
		munmap(all + before + bytes, CHUNK - before);
	return all + before;
}

char *fresh_memory(size_t bytes)
{
	return fresh_memory_with(bytes, 0);
}

int bind_memory(int device, const void *address, size_t bytes, uint32_t flags)
{
	struct kadapt_memory memory = {
	    .address = (uintptr_t)address,
	    .bytes = bytes,
	    .flags = flags,
	};

	return ioctl(device, KADAPT_MEMORY, &memory);
}

long faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_minflt;
}

size_t resident(const void *address, size_t bytes)
{
	size_t pages = bytes / PAGE, count = 0;
	unsigned char *present = malloc(pages);

	if (!present || mincore((void *)address, bytes, present))
		return SIZE_MAX;
	for (size_t i = 0; i < pages; i++)
		count += present[i] & 1;
	free(present);
	return count;
}

bool is_zero(const char *address, size_t bytes)
{
	return !*address && !memcmp(address, address + 1, bytes - 1);
}

long write_pages(char *address, size_t pages)
{
	long before = faults();

	for (size_t i = 0; i < pages; i++)
		address[i * PAGE] = (char)(i + 1);
	return faults() - before;
}
