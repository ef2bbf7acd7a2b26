// SPDX-License-Identifier: GPL-2.0-or-later
/* What the kernel keeps for itself, and what a page costs that is touched for the first time. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lab.h"

#define REGION_BYTES (64UL << 20)
#define HUGE_BYTES (2UL << 20)
#define PAGE_BYTES 4096
#define PAGES (REGION_BYTES / PAGE_BYTES)

/* A line of /proc/meminfo, in bytes. */
static int meminfo(const char *name, double *bytes)
{
	FILE *file = fopen("/proc/meminfo", "r");
	char line[128], key[64];
	double kibibytes;

	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%63[^:]: %lf", key, &kibibytes) != 2)
			continue;
		for (int i = 0; key[i] == name[i]; i++) {
			if (key[i])
				continue;
			*bytes = kibibytes * 1024;
			fclose(file);
			return 0;
		}
	}
	fclose(file);
	return -ENODATA;
}

/* Of what the page allocator was given, what nobody could have any more. */
static int sample_used(long unused, double *to)
{
	double total, available;
	int error = meminfo("MemTotal", &total);

	(void)unused;
	if (!error)
		error = meminfo("MemAvailable", &available);
	if (!error)
		*to = total - available;
	return error;
}

/* Of the guest's whole memory, what is not free: the kernel itself, its tables, its caches. */
static int sample_not_free(long unused, double *to)
{
	double available;
	int error = meminfo("MemFree", &available);

	(void)unused;
	if (!setting.guest_bytes)
		return -ENODATA;
	if (!error)
		*to = setting.guest_bytes - available;
	return error;
}

static char *region;

static void unmap_region(void)
{
	if (region)
		munmap(region, REGION_BYTES + HUGE_BYTES);
	region = NULL;
}

/* `advice` 0: none, the kernel does as it does for any program. */
static int map_region(long advice)
{
	char *aligned;

	unmap_region();
	region = mmap(NULL, REGION_BYTES + HUGE_BYTES, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (region == MAP_FAILED) {
		region = NULL;
		return -errno;
	}
	aligned = (char *)(((uintptr_t)region + HUGE_BYTES - 1) & ~(HUGE_BYTES - 1));
	/* A kernel that has no huge pages refuses the advice against them. */
	if (advice && madvise(aligned, REGION_BYTES, advice) && errno != EINVAL)
		return -errno;
	return 0;
}

static int touch_pages(long unused, long count)
{
	volatile char *page = (char *)(((uintptr_t)region + HUGE_BYTES - 1) & ~(HUGE_BYTES - 1));

	(void)unused;
	for (long i = 0; i < count; i++, page += PAGE_BYTES)
		*page = 1;
	return 0;
}

const struct operation memory_operations[] = {
    {.name = "memory_used", .unit = "bytes", .batch = 1, .rounds = 1, .sample = sample_used},
    {
	.name = "memory_not_free",
	.unit = "bytes",
	.batch = 1,
	.rounds = 1,
	.sample = sample_not_free,
    },
    {
	.name = "page",
	.unit = "ns",
	.batch = PAGES,
	.rewind = map_region,
	.run = touch_pages,
	.finish = unmap_region,
    },
    {
	.name = "page_small",
	.unit = "ns",
	.argument = MADV_NOHUGEPAGE,
	.batch = PAGES,
	.rewind = map_region,
	.run = touch_pages,
	.finish = unmap_region,
    },
    {0},
};
