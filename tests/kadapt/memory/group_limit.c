/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Touches one page of each block, although the plan populates the blocks, in a control
 * group whose limit is nearly reached. Arguments, in MiB: the group's limit (0: no
 * group), the memory in use before the blocks, and the blocks. With a limit it must run
 * as root and be allowed to make control groups. Prints on standard error how much of
 * the limit was used at the end, in KiB.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>

#define GROUPS "/sys/fs/cgroup"
#define GROUP GROUPS "/around/own"
#define MIB ((size_t)1 << 20)

static void check(int is_right, const char *what)
{
	if (is_right)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(2);
}

static void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	check(file && fputs(text, file) >= 0 && fclose(file) == 0, path);
}

/* Sets the limit in a group that contains the process's own group. */
static void enter_group(size_t limit)
{
	char text[32];

	check(mount("none", GROUPS, "cgroup2", 0, NULL) == 0 || errno == EBUSY, GROUPS);
	write_text(GROUPS "/cgroup.subtree_control", "+memory");
	check(mkdir(GROUPS "/around", 0700) == 0, "mkdir");
	write_text(GROUPS "/around/cgroup.subtree_control", "+memory");
	check(mkdir(GROUP, 0700) == 0, "mkdir");
	snprintf(text, sizeof(text), "%zu", limit);
	write_text(GROUPS "/around/memory.max", text);
	write_text(GROUP "/cgroup.procs", "0");
}

static long used(void)
{
	FILE *file = fopen(GROUP "/memory.current", "r");
	long bytes;

	check(file && fscanf(file, "%ld", &bytes) == 1 && fclose(file) == 0, "memory.current");
	return bytes;
}

int main(int count, char **arguments)
{
	size_t limit = count > 3 ? strtoul(arguments[1], NULL, 10) * MIB : 0;
	size_t before = count > 3 ? strtoul(arguments[2], NULL, 10) * MIB : 0;
	long blocks = count > 3 ? strtol(arguments[3], NULL, 10) : 0;
	char *held;

	if (limit)
		enter_group(limit);
	held = mmap(NULL, before + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	check(held != MAP_FAILED, "mmap");
	memset(held, 1, before);
	for (long i = 0; i < blocks; i++) {
		char *block = malloc(MIB);

		check(block != NULL, "malloc");
		*(volatile char *)block = 1;
	}
	fprintf(stderr, "%ld KiB\n", limit ? used() / 1024 : 0);
	puts("lived");
	return 0;
}
