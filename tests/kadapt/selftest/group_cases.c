// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Control groups that limit memory. The kernel charges pages that it makes present in
 * bulk to the program's group. A program that stays within the group's limit without
 * ranges also does so with them.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device.h"
#include "harness.h"
#include "memory.h"

#define LIMIT (48UL << 20)
/* Room for what the kernel charges in advance, and for the process's other memory. */
#define SLACK (1UL << 20)
#define SPARSE (8 * LIMIT)
/* The guest sees the host's folder, so the case mounts the groups over it. */
#define GROUPS "/mnt"
#define AROUND GROUPS "/around"
#define INSIDE AROUND "/inside"

static bool write_text(const char *path, const char *text)
{
	int file = open(path, O_WRONLY | O_CLOEXEC);
	bool written = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);

	if (file >= 0)
		close(file);
	return written;
}

/* Returns the number after the first `word` in a file, at its start if `word` is ""; -1: none. */
static long number_in(const char *path, const char *word)
{
	char text[4096] = "";
	int file = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t count = file < 0 ? -1 : read(file, text, sizeof(text) - 1);
	const char *found = strstr(text, word);

	if (file >= 0)
		close(file);
	return count > 0 && found ? strtol(found + strlen(word), NULL, 10) : -1;
}

static bool limit(const char *group)
{
	char path[64], text[32];

	snprintf(path, sizeof(path), "%s/memory.max", group);
	snprintf(text, sizeof(text), "%lu", LIMIT);
	return write_text(path, text);
}

/* Makes two groups, one in the other, and enters the inner one. Returns false if it can't. */
static bool enter_groups(void)
{
	/* An earlier case may have mounted the groups. */
	if (access(GROUPS "/cgroup.procs", F_OK) && mount("none", GROUPS, "cgroup2", 0, NULL))
		return false;
	return write_text(GROUPS "/cgroup.subtree_control", "+memory") &&
	       (!mkdir(AROUND, 0700) || !access(AROUND, F_OK)) &&
	       write_text(AROUND "/cgroup.subtree_control", "+memory") &&
	       (!mkdir(INSIDE, 0700) || !access(INSIDE, F_OK)) &&
	       write_text(AROUND "/memory.max", "max") && write_text(INSIDE "/memory.max", "max") &&
	       write_text(INSIDE "/cgroup.procs", "0");
}

static long charged(void)
{
	return number_in(INSIDE "/memory.current", "");
}

static enum outcome test_charged(void)
{
	char *memory = fresh_memory(4 * CHUNK);
	int device = open_device();
	long before;

	if (!enter_groups())
		return skip("this kernel has no control groups that count memory");
	before = charged();
	CHECK(memory && before > 0);
	CHECK(bind_memory(device, memory, 4 * CHUNK, KADAPT_MEMORY_DENSE | KADAPT_MEMORY_NOW) == 0);
	CHECK(resident(memory, 4 * CHUNK) == 4 * CHUNK_PAGES);
	CHECK(charged() >= before + (long)(4 * CHUNK));
	CHECK(charged() <= before + (long)(4 * CHUNK + SLACK));
	CHECK(munmap(memory, 4 * CHUNK) == 0);
	CHECK(charged() <= before + (long)SLACK);
	return PASSED;
}

/* As in memory_short, writes a page of each chunk; then fills other memory, 7/8 of the limit. */
static int use_nearly_all(void *argument)
{
	const uint32_t kind = *(uint32_t *)argument;
	size_t needed = LIMIT / 8 * 7;
	char *sparse = fresh_memory_with(SPARSE, MAP_NORESERVE), *other = fresh_memory(needed);

	CHECK(sparse && other);
	CHECK(bind_memory(open_device(), sparse, SPARSE, kind) == 0);
	for (size_t offset = 0; offset < SPARSE; offset += CHUNK)
		memset(sparse + offset + 3 * PAGE, 0x7e, PAGE);
	memset(other, 1, needed);
	for (size_t offset = 0; offset < SPARSE; offset += CHUNK) {
		CHECK(is_zero(sparse + offset, PAGE));
		CHECK(sparse[offset + 3 * PAGE] == 0x7e);
	}
	for (size_t offset = 0; offset < needed; offset++)
		CHECK(other[offset] == 1);
	return PASSED;
}

/* Shows first that the program survives without ranges; then it must survive with them. */
static enum outcome lives_within(const char *group)
{
	uint32_t kinds[] = {KADAPT_MEMORY_PLAIN, KADAPT_MEMORY_DENSE};
	char events[64];

	if (!enter_groups())
		return skip("this kernel has no control groups that count memory");
	CHECK(limit(group));
	snprintf(events, sizeof(events), "%s/memory.events", group);
	for (size_t i = 0; i < 2; i++) {
		CHECK(in_child(use_nearly_all, &kinds[i]) == PASSED);
		CHECK(number_in(events, "oom_kill ") == 0);
	}
	return PASSED;
}

static enum outcome test_own_limit(void)
{
	return lives_within(INSIDE);
}

static enum outcome test_limit_around(void)
{
	return lives_within(AROUND);
}

const struct test_case group_cases[] = {
    {"group_charged", "a control group is charged for what is made present", test_charged},
    {"group_limit", "within its group's limit a program lives as without ranges", test_own_limit},
    {"group_around", "so it does where a group around has the limit", test_limit_around},
    {0},
};
