// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs a command while functions of the running kernel are instrumented.
 *
 *	probe [-m MODULE]... [-p TASK]... [-s SECONDS] [-e EVENTS] FUNCTIONS OUT [-- COMMAND...]
 *
 * The modules are loaded first. FUNCTIONS has lines "ADDRESS KIND", with the kind's number in
 * kadapt_probe.h. The command and the tasks are observed, and all that they create. OUT gets what
 * print_all() prints, once the command has ended or the seconds are over. EVENTS gets all calls of
 * the command, as events.h describes. Returns the command's exit status; 125 if it could not begin.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "events.h"
#include "kadapt_probe.h"

#define DEVICE "/dev/kadapt_probe"
#define REFUSED 125
#define NOT_FOUND 127
#define MOST_TASKS 1024
#define EVENTS_POWER 22 /* 131,072 for each processor */
#define TAKING_NS 10000000

struct probe {
	int device;
	struct kadapt_probe_function functions[KADAPT_PROBE_FUNCTIONS];
	struct kadapt_probe_arm arm;
	uint64_t arm_ns; /* how long arming took */
	struct clock_reading armed;
	const struct kadapt_probe_pool *pool;
	const char *events_path; /* or NULL */
	struct events events;
};

static void __attribute__((noreturn)) fail(const char *what, const char *why)
{
	fprintf(stderr, "kadence: observe: %s: %s\n", what, why);
	exit(REFUSED);
}

static void read_functions(struct probe *probe, const char *path)
{
	FILE *file = fopen(path, "r");
	struct kadapt_probe_function *each = probe->functions;

	if (!file)
		fail(path, strerror(errno));
	while (each < &probe->functions[KADAPT_PROBE_FUNCTIONS] &&
	       fscanf(file, "%" SCNx64 " %u", (uint64_t *)&each->address, &each->kind) == 2)
		each++;
	/* Behind the last line the end has not been seen yet. */
	fscanf(file, " ");
	if (!feof(file))
		fail(path, "this is no list of at most 4096 functions");
	fclose(file);
	probe->arm.count = each - probe->functions;
}

static const char *reason(int error)
{
	switch (error) {
	case ENOENT:
		return "a function of the list can't be traced in this kernel";
	case EBUSY:
		return "another observation runs or has not drained, or a unit or BPF has a "
		       "function";
	case ERANGE:
		return "more than 16 functions must all be of the kernel itself or all of modules";
	default:
		return strerror(error);
	}
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static void arm(struct probe *probe)
{
	uint64_t begin;

	probe->device = open(DEVICE, O_RDWR | O_CLOEXEC);
	if (probe->device < 0)
		fail(DEVICE,
		     errno == ENOENT ? "load kadapt.ko and kadapt_probe.ko first" : reason(errno));
	probe->arm.functions = (uintptr_t)probe->functions;
	probe->arm.events = probe->events_path ? EVENTS_POWER : 0;
	begin = now_ns();
	if (ioctl(probe->device, KADAPT_PROBE_ARM, &probe->arm))
		fail(DEVICE, reason(errno));
	probe->arm_ns = now_ns() - begin;
	probe->armed = clock_read();
	if (probe->arm.version != KADAPT_PROBE_VERSION)
		fail(DEVICE, "the driver has another version; build it anew");
	probe->pool = mmap(NULL, probe->arm.map_bytes, PROT_READ, MAP_SHARED, probe->device, 0);
	if (probe->pool == MAP_FAILED)
		fail(DEVICE, strerror(errno));
	if (probe->events_path && !events_begin(&probe->events, probe->pool))
		fail(probe->events_path, strerror(ENOMEM));
}

/* ---- the results ---------------------------------------------------------- */

static uint64_t calls_of(const struct kadapt_probe_record *record)
{
	uint64_t calls = record->unended;

	for (int i = 0; i < KADAPT_PROBE_BUCKETS; i++)
		calls += record->histogram[i];
	return calls;
}

static void print_record(FILE *out, unsigned int function, const struct kadapt_probe_record *record)
{
	if (!calls_of(record))
		return;
	fprintf(out, "record %u %" PRIu64 " %" PRId64 " %" PRIu64 " %" PRIu64 " %" PRIu64, function,
		calls_of(record), (int64_t)record->inclusive, (uint64_t)record->children,
		(uint64_t)record->bytes, (uint64_t)record->unended);
	for (int i = 0; i < KADAPT_PROBE_WAITS; i++)
		fprintf(out, " %" PRIu64, (uint64_t)record->waited[i]);
	for (int i = 0; i < KADAPT_PROBE_BUCKETS; i++)
		if (record->histogram[i])
			fprintf(out, " %d:%" PRIu64, i, (uint64_t)record->histogram[i]);
	fputc('\n', out);
}

static uint64_t elapsed_of(const struct kadapt_probe_block *block)
{
	uint64_t entered = block->entered;

	return block->elapsed + (entered ? __builtin_ia32_rdtsc() - entered : 0);
}

static void print_block(FILE *out, const struct probe *probe, unsigned int number)
{
	const char *pool = (const char *)probe->pool;
	const struct kadapt_probe_block *block = (const void *)(pool + probe->pool->blocks_at);
	const struct kadapt_probe_record *records =
	    (const void *)(pool + probe->pool->records_at + number * probe->pool->records_bytes);

	block += number;
	fprintf(out, "block %d %d %d %" PRIu64 " %" PRIu64 " %.16s\n", block->process, block->task,
		(int)block->phase, elapsed_of(block), (uint64_t)block->away, block->name);
	for (unsigned int i = 0; i < probe->pool->functions; i++)
		print_record(out, i, &records[i]);
}

/*
 * Prints
 *
 *	arm TICKS-KHZ INNER SHARED TASKS-LOST STAYS-LOST ARM-NS COUNT COST...
 *	clock TICKS NS AROUND-TICKS MOST-US
 *	clock TICKS NS AROUND-TICKS MOST-US
 *
 * with the costs of a call that is counted alone, and of each kind; and the clock, as clock.h
 * describes it, when the functions were instrumented and now. For each block, and below it for
 * each function that was called there, follow
 *
 *	block PROCESS TASK PHASE ELAPSED AWAY NAME
 *	record FUNCTION CALLS INCLUSIVE CHILDREN BYTES UNENDED WAITED... BUCKET:CALLS...
 */
static void print_all(const struct probe *probe, const char *path)
{
	const struct kadapt_probe_arm *arm = &probe->arm;
	struct clock_reading now = clock_read();
	FILE *out = fopen(path, "w");

	if (!out)
		fail(path, strerror(errno));
	fprintf(out, "arm %u %u %u %u %u %" PRIu64 " %u", arm->ticks_khz, arm->inner_ticks,
		arm->shared, probe->pool->tasks_lost, probe->pool->stays_lost, probe->arm_ns,
		arm->count_ticks);
	for (int kind = 0; kind < KADAPT_PROBE_KINDS; kind++)
		fprintf(out, " %u", arm->cost_ticks[kind]);
	fputc('\n', out);
	clock_print(out, &probe->armed);
	clock_print(out, &now);
	for (unsigned int i = 0; i < probe->pool->blocks; i++)
		print_block(out, probe, i);
	if (ferror(out) | fclose(out))
		fail(path, strerror(errno));
}

/* ---- the command ---------------------------------------------------------- */

static void observe(const struct probe *probe, pid_t task)
{
	char name[32];

	if (!ioctl(probe->device, KADAPT_PROBE_TASK, task) || errno == EEXIST)
		return;
	snprintf(name, sizeof(name), "task %d", task);
	fail(name, errno == ESRCH ? "there is no such task" : strerror(errno));
}

/* The child begins the command when somebody writes to the pipe. */
static pid_t start(char **command, int *begin)
{
	int ends[2];
	char byte;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC))
		fail("pipe", strerror(errno));
	child = fork();
	if (child < 0)
		fail("fork", strerror(errno));
	if (child) {
		close(ends[0]);
		*begin = ends[1];
		return child;
	}
	close(ends[1]);
	if (read(ends[0], &byte, 1) != 1)
		_exit(REFUSED);
	execvp(*command, command);
	fprintf(stderr, "kadence: observe: %s: %s\n", *command, strerror(errno));
	_exit(NOT_FOUND);
}

static void take_events(struct probe *probe)
{
	if (!events_take(&probe->events))
		fail(probe->events_path, strerror(ENOMEM));
}

/* What is missing now is awaited once more. */
static void write_events(struct probe *probe)
{
	take_events(probe);
	take_events(probe);
	if (!events_write(&probe->events, probe->events_path))
		fail(probe->events_path, strerror(errno));
}

/* Takes events until the child has ended. */
static void wait_taking(struct probe *probe, pid_t child, int *status)
{
	const struct timespec pause = {.tv_nsec = TAKING_NS};
	pid_t ended;

	while ((ended = waitpid(child, status, WNOHANG)) == 0) {
		nanosleep(&pause, NULL);
		take_events(probe);
	}
	if (ended != child)
		fail("waitpid", strerror(errno));
	write_events(probe);
}

static int run(struct probe *probe, char **command)
{
	int begin, status;
	pid_t child = start(command, &begin);

	/* An interrupt from the terminal ends the command, and not the results. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	observe(probe, child);
	if (write(begin, "", 1) != 1)
		fail(*command, strerror(errno));
	if (probe->events_path)
		wait_taking(probe, child, &status);
	else if (waitpid(child, &status, 0) != child)
		fail(*command, strerror(errno));
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static volatile sig_atomic_t is_told_to_end;

static void on_signal(int number)
{
	(void)number;
	is_told_to_end = true;
}

/* A signal ends the observation early. */
static void pass(struct probe *probe, double seconds)
{
	const struct timespec pause = {.tv_nsec = TAKING_NS};
	struct sigaction action = {.sa_handler = on_signal};
	uint64_t end = now_ns() + (uint64_t)(seconds * 1e9);

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	while (!is_told_to_end && now_ns() < end) {
		nanosleep(&pause, NULL);
		if (probe->events_path)
			take_events(probe);
	}
	if (probe->events_path)
		write_events(probe);
}

static void load(const char *path)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);

	if (file < 0 || (syscall(SYS_finit_module, file, "", 0) && errno != EEXIST))
		fail(path, strerror(errno));
	close(file);
}

static const char *const usage =
    "probe [-m MODULE]... [-p TASK]... [-s SECONDS] [-e EVENTS] FUNCTIONS OUT [-- COMMAND...]";

int main(int argc, char **argv)
{
	static struct probe probe;
	pid_t tasks[MOST_TASKS];
	unsigned int count = 0;
	double seconds = 0;
	int letter, status = 0;

	while ((letter = getopt(argc, argv, "+m:p:s:e:")) != -1) {
		if (letter == 'm')
			load(optarg);
		else if (letter == 'p' && count < MOST_TASKS)
			tasks[count++] = atoi(optarg);
		else if (letter == 's')
			seconds = atof(optarg);
		else if (letter == 'e')
			probe.events_path = optarg;
		else
			fail("usage", usage);
	}
	if (argc - optind < 2)
		fail("usage", usage);
	read_functions(&probe, argv[optind]);
	arm(&probe);
	for (unsigned int i = 0; i < count; i++)
		observe(&probe, tasks[i]);
	/* Behind FUNCTIONS and OUT there is --, and then the command. */
	if (argc - optind > 3)
		status = run(&probe, argv + optind + 3);
	else
		pass(&probe, seconds);
	print_all(&probe, argv[optind + 1]);
	return status;
}
