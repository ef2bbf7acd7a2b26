// SPDX-License-Identifier: GPL-2.0-or-later
/* The ends of processes and of the device. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "device.h"
#include "base/device_file.h"
#include "libkadapt.h"
#include "sink.h"

static enum outcome check_size(const char *path, long expected)
{
	struct stat status;

	CHECK(stat(path, &status) == 0);
	if (status.st_size != expected)
		note("%ld bytes, not %ld", (long)status.st_size, expected);
	CHECK(status.st_size == expected);
	unlink(path);
	return PASSED;
}

static int fill_and_execute(void *argument)
{
	struct sink *sink = argument;

	if (kadapt_enter(SLOW_PHASE) || sink_open(sink) || sink_fill(sink))
		return FAILED;
	execlp("true", "true", NULL);
	return FAILED;
}

static enum outcome test_exec(void)
{
	struct sink *sink = shared_memory(sizeof(*sink));

	CHECK(in_child(fill_and_execute, sink) == PASSED);
	return check_size(sink->path, 3 * RECORD_BYTES);
}

static int fill_and_die(void *argument)
{
	struct sink *sink = argument;

	if (kadapt_enter(SLOW_PHASE) || sink_open(sink) || sink_fill(sink))
		return FAILED;
	syscall(SYS_kill, getpid(), SIGKILL);
	return FAILED;
}

static enum outcome test_killed(void)
{
	struct sink *sink = shared_memory(sizeof(*sink));
	int status;
	pid_t process = fork();

	if (process == 0)
		_exit(fill_and_die(sink));
	CHECK(waitpid(process, &status, 0) == process);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	return check_size(sink->path, 3 * RECORD_BYTES);
}

/* A program that closes descriptors that it did not open. */
static enum outcome test_device_closed(void)
{
	struct sink sink;

	CHECK(kadapt_enter(SLOW_PHASE) == 0);
	CHECK(sink_open(&sink) == 0);
	CHECK(sink_fill(&sink) == 0);
	CHECK(syscall(SYS_close, kadapt_device) == 0);
	CHECK(sink_arrived(&sink) == 3 * RECORD_BYTES);
	for (long i = 4; i < 50; i++) {
		CHECK(kadapt_write(sink.writer, RECORD, RECORD_BYTES) == RECORD_BYTES);
		CHECK(sink_arrived(&sink) == i * RECORD_BYTES);
	}
	sink_close(&sink);
	return PASSED;
}

const struct test_case end_cases[] = {
    {"end_exec", "another program is executed", test_exec},
    {"end_killed", "what was accepted is there after SIGKILL", test_killed},
    {"end_device_closed", "the device is closed past the library", test_device_closed},
    {0},
};
