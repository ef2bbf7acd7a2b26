// SPDX-License-Identifier: MIT
/*
 * Control groups of version 2 are at /sys/fs/cgroup, where systemd and Slurm mount them.
 * The memory controller of version 1 is below it. A process that sees only a part of the
 * tree, as in a container, finds its own group or the root of that part. The groups that
 * have a limit are looked up once. If there are none, nothing is read again.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pages/group.h"
#include "pages/machine.h"

#define MOUNT "/sys/fs/cgroup"
#define PATH_BYTES 512
#define LEVELS_MAX 8
/* 1 / RESERVED_SHARE of a limit is left to the program's own allocations. */
#define RESERVED_SHARE 16

struct version {
	const char *line; /* the text before the group's path in /proc/self/cgroup */
	const char *mount, *limit, *usage;
};

static const struct version versions[] = {
    {"0::", MOUNT, "memory.max", "memory.current"},
    {":memory:", MOUNT "/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"},
};

static struct {
	const struct version *version;
	char folder[PATH_BYTES];
} levels[LEVELS_MAX];
static unsigned int levels_count;

/* Reads a limit or usage in bytes. Returns SIZE_MAX if it is not a number, as "max". */
static size_t read_number(const char *folder, const char *name)
{
	char path[PATH_BYTES + 32], text[32], *end;
	unsigned long long number;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	kadapt_machine_read_file(path, text, sizeof(text));
	number = strtoull(text, &end, 10);
	return end == text || number > SIZE_MAX ? SIZE_MAX : (size_t)number;
}

/* Version 1 writes a number larger than any memory if there is no limit. */
static int is_limit(size_t bytes)
{
	return bytes < (size_t)1 << 48;
}

static void look_at_levels(const struct version *version, const char *path, size_t length)
{
	char folder[PATH_BYTES];
	size_t mount = strlen(version->mount);

	if (*path != '/' || mount + length >= sizeof(folder))
		return;
	memcpy(folder, version->mount, mount);
	memcpy(folder + mount, path, length);
	folder[mount + length] = '\0';
	for (char *end = folder + mount + length;; *end = '\0') {
		if (levels_count < LEVELS_MAX && is_limit(read_number(folder, version->limit))) {
			levels[levels_count].version = version;
			memcpy(levels[levels_count++].folder, folder, sizeof(folder));
		}
		if (end == folder + mount)
			break;
		while (*--end != '/')
			;
	}
}

static void look(void)
{
	char text[4096];

	kadapt_machine_read_file("/proc/self/cgroup", text, sizeof(text));
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		const char *found = strstr(text, versions[i].line);

		if (found) {
			found += strlen(versions[i].line);
			look_at_levels(&versions[i], found, strcspn(found, "\n"));
		}
	}
}

int kadapt_group_has_room(size_t bytes)
{
	static pthread_once_t looked = PTHREAD_ONCE_INIT;

	pthread_once(&looked, look);
	for (unsigned int i = 0; i < levels_count; i++) {
		const struct version *version = levels[i].version;
		size_t limit = read_number(levels[i].folder, version->limit);
		size_t usage = read_number(levels[i].folder, version->usage);

		if (is_limit(limit) &&
		    (usage > limit || limit - usage < bytes + limit / RESERVED_SHARE))
			return 0;
	}
	return 1;
}
