// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * library-selftest [NAME...]: libkadapt with a plan of its own. Cases named plain_ need a machine
 * without the device, and cases named adapted_ a machine with it.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device.h"
#include "harness.h"
#include "libkadapt.h"

/* Longer than any kernel allows, so the library shortens it to this kernel's limit. */
const struct kadapt_plan kadapt_plan = {
    .abi = KADAPT_PLAN_ABI,
    .policies = 2,
    .policy = {{.phase = 0, .quantum_ns = 3600 * NS_PER_S}, {.phase = 1, .quantum_ns = 0}},
};

/* Counts the open descriptors; sets *highest to the highest one. */
static int open_descriptors(int *highest)
{
	DIR *folder = opendir("/proc/self/fd");
	struct dirent *entry;
	int count = 0;

	*highest = -1;
	while (folder && (entry = readdir(folder))) {
		int descriptor = atoi(entry->d_name);

		if (entry->d_name[0] == '.' || descriptor == dirfd(folder))
			continue;
		count++;
		*highest = descriptor > *highest ? descriptor : *highest;
	}
	if (folder)
		closedir(folder);
	return count;
}

static enum outcome test_without_device(void)
{
	int highest;
	int before = open_descriptors(&highest);

	errno = EXDEV;
	kadapt_phase_enter(0);
	CHECK(errno == EXDEV);
	CHECK(kadapt_enter(0) == -ENODEV);
	CHECK(kadapt_enter(7) == -ENODEV);
	CHECK(kadapt_leave() == -ENODEV);
	CHECK(errno == EXDEV);
	CHECK(open_descriptors(&highest) == before);
	return PASSED;
}

static enum outcome test_enter(void)
{
	errno = EXDEV;
	CHECK(kadapt_enter(0) == 0);
	sleep_for(NS_PER_MS);
	CHECK(slice_of(0) == quantum_up_to(3600 * NS_PER_S));
	errno = EXDEV;
	CHECK(kadapt_enter(1) == 0);
	CHECK(slice_of(0) < quantum_up_to(3600 * NS_PER_S));
	CHECK(kadapt_enter(2) == -ENOENT);
	kadapt_phase_enter(0);
	CHECK(kadapt_leave() == 0);
	CHECK(errno == EXDEV);
	return PASSED;
}

static enum outcome test_descriptor(void)
{
	int highest, first;

	CHECK(kadapt_enter(0) == 0);
	open_descriptors(&highest);
	CHECK(highest >= 200);
	CHECK(fcntl(highest, F_GETFD) == FD_CLOEXEC);
	/* The program's next descriptor is the same as without the library. */
	first = open("/dev/null", O_RDONLY);
	CHECK(first >= 0 && first < 10);
	return PASSED;
}

static enum outcome test_all_closed(void)
{
	uint64_t before = slice_of(0);
	int highest;

	CHECK(kadapt_enter(0) == 0);
	open_descriptors(&highest);
	CHECK(close_range(3, ~0U, 0) == 0);
	CHECK(slice_of(0) == before);
	/* The call is not repeated. The next call shows the loss. */
	CHECK(kadapt_enter(0) == 0);
	CHECK(kadapt_enter(1) == -EBADF);
	CHECK(kadapt_enter(1) == -ENODEV);
	return PASSED;
}

static enum outcome test_number_reused(void)
{
	int pipe_ends[2], highest;

	CHECK(kadapt_enter(0) == 0);
	open_descriptors(&highest);
	CHECK(pipe(pipe_ends) == 0);
	CHECK(dup2(pipe_ends[1], highest) == highest);
	CHECK(kadapt_enter(1) == -ENOTTY);
	CHECK(kadapt_enter(1) == -ENODEV);
	/* A child does not close the program's descriptor. */
	if (fork() == 0)
		_exit(write(highest, "x", 1) == 1 ? PASSED : FAILED);
	CHECK(read(pipe_ends[0], &(char){0}, 1) == 1);
	return PASSED;
}

static int phases_of_child(void *unused)
{
	int highest;
	int before = open_descriptors(&highest);
	uint64_t own = slice_of(0);

	(void)unused;
	/* The child closes the parent's descriptor, and opens its own when it needs one. */
	CHECK(highest < 200);
	CHECK(kadapt_enter(0) == 0);
	CHECK(open_descriptors(&highest) == before + 1);
	sleep_for(NS_PER_MS);
	CHECK(slice_of(0) != own);
	CHECK(kadapt_leave() == 0);
	CHECK(slice_of(0) == own);
	return PASSED;
}

static enum outcome test_fork(void)
{
	CHECK(kadapt_enter(0) == 0);
	CHECK(in_child(phases_of_child, NULL) == PASSED);
	sleep_for(NS_PER_MS);
	CHECK(slice_of(0) == quantum_up_to(3600 * NS_PER_S));
	CHECK(kadapt_enter(1) == 0);
	return PASSED;
}

static void *enter_and_end(void *unused)
{
	(void)unused;
	kadapt_phase_enter(0);
	kadapt_phase_enter(0);
	return NULL;
}

#define COUNTERS_FILE "/tmp/kadapt-library-counters"

static int run_to_the_end(void *argument)
{
	pthread_t thread;
	int descriptor = open(COUNTERS_FILE, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	(void)argument;
	close(descriptor);
	setenv("KADAPT_COUNTERS", COUNTERS_FILE, 1);
	kadapt_phase_enter(0);
	kadapt_phase_enter(1);
	pthread_create(&thread, NULL, enter_and_end, NULL);
	pthread_join(thread, NULL);
	sleep_for(100 * NS_PER_MS);
	exit(PASSED);
}

static enum outcome test_counters(void)
{
	char line[1024] = {0};
	const char *second;
	int file;

	CHECK(in_child(run_to_the_end, NULL) == PASSED);
	file = open(COUNTERS_FILE, O_RDONLY);
	CHECK(read(file, line, sizeof(line) - 1) > 0);
	close(file);
	unlink(COUNTERS_FILE);
	note("%.*s", (int)strcspn(line, "\n"), line);
	CHECK(!strncmp(line, "{\"pid\": ", 8));
	CHECK(strstr(line, "\"phases\": [{\"phase\": 0, \"entries\": 2, "));
	second = strstr(line, "{\"phase\": 1, \"entries\": 1, ");
	CHECK(second && strstr(second, "}]}\n"));
	return PASSED;
}

static const struct test_case library_cases[] = {
    {"plain_calls", "calls without device do nothing, errno included", test_without_device},
    {"adapted_enter", "phases of the plan, its quantum cut to the limit", test_enter},
    {"adapted_descriptor", "the descriptor is out of the program's way", test_descriptor},
    {"adapted_all_closed", "a program that closes every descriptor", test_all_closed},
    {"adapted_number_reused", "a program that takes the number over", test_number_reused},
    {"adapted_fork", "a child opens the device for itself", test_fork},
    {"adapted_counters", "KADAPT_COUNTERS leaves a line", test_counters},
    {0},
};

int main(int count, char **arguments)
{
	const struct test_case *const tables[] = {library_cases, NULL};

	(void)count;
	return run_cases(tables, arguments + 1);
}
