// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Memory that the kernel keeps for itself.
 *
 * Free pages on a processor's own list are in neither MemFree nor MemAvailable. Their number
 * depends on when the timer ticks: up to a few huge pages after a program that used huge pages. Any
 * process can get these pages, so here they count as free.
 */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "lab.h"

/* Reads a line of /proc/meminfo, in bytes. */
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

/*
 * Returns the free bytes on all lists of all processors. The lines are "count: PAGES", one for each
 * processor and zone.
 */
static double waiting_bytes(void)
{
	FILE *file = fopen("/proc/zoneinfo", "r");
	char line[128];
	double pages, sum = 0;

	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, " count: %lf", &pages) == 1)
			sum += pages;
	fclose(file);
	return sum * sysconf(_SC_PAGESIZE);
}

/* Bytes of the page allocator's memory that no process could get. */
static int sample_used(long unused, double *to)
{
	double total, available;
	int error = meminfo("MemTotal", &total);

	(void)unused;
	if (!error)
		error = meminfo("MemAvailable", &available);
	if (!error)
		*to = total - available - waiting_bytes();
	return error;
}

/* Bytes of the guest's whole memory that are not free: the kernel, its tables, its caches. */
static int sample_not_free(long unused, double *to)
{
	double available;
	int error = meminfo("MemFree", &available);

	(void)unused;
	if (!setting.guest_bytes)
		return -ENODATA;
	if (!error)
		*to = setting.guest_bytes - available - waiting_bytes();
	return error;
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
    {0},
};
