// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * settle: waits until the guest's own work after boot has ended, then executes a command.
 *
 *	settle [-m MODULE]... REPORT COMMAND [ARGUMENT...]
 *
 * Modules of the kernel are loaded first.
 * After a boot the kernel continues to work for a while (self-tests, deferred set-up, the work that
 * udev would do on a whole system). Any operation measured during this time costs up to twice as
 * much. So settle times a loop of known length in windows, with a pause before each. The guest has
 * settled when AGREEING_WINDOWS consecutive windows agree. If it has not settled after GIVE_UP_NS,
 * settle gives up, says so in the report, and executes the command.
 *
 * REPORT gets lines of a key and a value. Times are of the guest's clock since its boot:
 *
 *	started_ns	when this program began
 *	finished_ns	when the command began
 *	processor_ns	processor time that this program used
 *	windows		number of windows timed
 *	settled		1, or 0 if settle gave up
 *	file_system	type of the current directory's file system
 *
 * The command replaces this process, so streams, signals and exit status are the command's own.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "mount.h"
#include "mark.h"

#define WINDOW_TURNS 2500000L /* each turn is two instructions */
#define PAUSE_NS 50000000L
#define AGREEING_WINDOWS 12
#define TOLERANCE 0.005 /* a few ticks of the timer stay below it; another task exceeds it */
#define GIVE_UP_NS 30e9

enum { STATUS_USAGE = 2, STATUS_NOT_EXECUTABLE = 126, STATUS_NOT_FOUND = 127 };

struct outcome {
	int64_t started_ns;
	int windows;
	bool settled;
};

static int64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static double window_ns(void)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	long turns = WINDOW_TURNS;
	int64_t start;

	nanosleep(&pause, NULL);
	start = now_ns();
	asm volatile("1: dec %0\n\tjnz 1b" : "+r"(turns) : : "cc");
	return now_ns() - start;
}

static bool agree(const double *windows)
{
	double least = windows[0], most = windows[0];

	for (int i = 1; i < AGREEING_WINDOWS; i++) {
		if (windows[i] < least)
			least = windows[i];
		if (windows[i] > most)
			most = windows[i];
	}
	return most <= least * (1 + TOLERANCE);
}

static struct outcome settle(void)
{
	struct outcome outcome = {.started_ns = now_ns()};
	double windows[AGREEING_WINDOWS];

	while (!outcome.settled && now_ns() - outcome.started_ns < GIVE_UP_NS) {
		windows[outcome.windows++ % AGREEING_WINDOWS] = window_ns();
		outcome.settled = outcome.windows >= AGREEING_WINDOWS && agree(windows);
	}
	return outcome;
}

static int64_t processor_ns(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * INT64_C(1000000000) +
	       (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * INT64_C(1000);
}

static const char *file_system(void)
{
	struct stat about;

	return stat(".", &about) ? "unknown" : mount_type(about.st_dev);
}

static bool report(const char *path, const struct outcome *outcome)
{
	FILE *file = fopen(path, "we");
	bool written;

	if (!file)
		return false;
	fprintf(file, "started_ns %jd\n", (intmax_t)outcome->started_ns);
	fprintf(file, "windows %d\n", outcome->windows);
	fprintf(file, "settled %d\n", outcome->settled);
	fprintf(file, "file_system %s\n", file_system());
	written = !fflush(file);
	/* Take these two last: writing the lines above to the host takes time of its own. */
	fprintf(file, "processor_ns %jd\n", (intmax_t)processor_ns());
	fprintf(file, "finished_ns %jd\n", (intmax_t)now_ns());
	return !fclose(file) && written;
}

static bool load(const char *path)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	bool loaded = file >= 0 && (!syscall(SYS_finit_module, file, "", 0) || errno == EEXIST);

	if (!loaded)
		fprintf(stderr, "kadence: %s: %s\n", path, strerror(errno));
	close(file);
	return loaded;
}

int main(int argc, char **argv)
{
	struct outcome outcome;
	int letter;

	while ((letter = getopt(argc, argv, "+m:")) == 'm')
		if (!load(optarg))
			return STATUS_NOT_EXECUTABLE;
	argv += optind;
	if (letter != -1 || argc - optind < 2) {
		fputs("usage: settle [-m MODULE]... REPORT COMMAND [ARGUMENT...]\n", stderr);
		return STATUS_USAGE;
	}
	outcome = settle();
	if (!report(argv[0], &outcome)) {
		fprintf(stderr, "kadence: %s: %s\n", argv[0], strerror(errno));
		return STATUS_NOT_EXECUTABLE;
	}
	/* The guest's init ends this section when the command has ended. */
	KADENCE_MARK("1");
	execvp(argv[1], argv + 1);
	fprintf(stderr, "kadence: %s: %s\n", argv[1], strerror(errno));
	return errno == ENOENT || errno == ENOTDIR ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE;
}
