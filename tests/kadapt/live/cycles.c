// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cycles UNIT COUNT: removes the unit and installs it again, so many times. A removal that the
 * driver refuses, because a task stayed inside the unit, is counted and tried again.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define LINES 20 /* of progress */
#define INSTALLED_MS 20

/* One of the two calls of a cycle: how often it was made, and how long it took. */
struct call {
	const char *name;
	const char *text;
	long times;
	int64_t total_ns;
	int64_t longest_ns;
};

static struct call removal = {"removal", "0", 0, 0, 0},
		   installation = {"installation", "1", 0, 0, 0};
static long refused;

static int64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

/* Returns 0 or an error. */
static int make(struct call *call, int file)
{
	int64_t start = now_ns(), length;
	int error = pwrite(file, call->text, 1, 0) == 1 ? 0 : errno;

	length = now_ns() - start;
	call->times++;
	call->total_ns += length;
	if (length > call->longest_ns)
		call->longest_ns = length;
	return error;
}

static void give_up(const char *what, int error)
{
	printf("%s: %s\n", what, strerror(error));
	exit(1);
}

static void expect(int file, char wanted)
{
	char is = 0;

	if (pread(file, &is, 1, 0) != 1 || is != wanted)
		give_up("installed says", is == wanted ? errno : EPROTO);
}

static void cycle(int file)
{
	/* So that tasks take the unit. */
	const struct timespec installed = {.tv_nsec = INSTALLED_MS * 1000000L};
	int error;

	while ((error = make(&removal, file)) == EBUSY)
		refused++;
	if (error)
		give_up("removal", error);
	expect(file, '0');
	error = make(&installation, file);
	if (error)
		give_up("installation", error);
	expect(file, '1');
	nanosleep(&installed, NULL);
}

static void tell(const struct call *call)
{
	printf("%s: %ld calls, %.1f ms on average, %.1f ms at most\n", call->name, call->times,
	       call->total_ns / 1e6 / call->times, call->longest_ns / 1e6);
}

int main(int words, char **word)
{
	int64_t start = now_ns();
	char path[PATH_MAX];
	long count, done;
	int file;

	if (words != 3)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	/* The load goes on while this waits, not the other way round. */
	setpriority(PRIO_PROCESS, 0, -20);
	count = atol(word[2]);
	snprintf(path, sizeof(path), "/sys/kernel/kadapt/units/%s/installed", word[1]);
	file = open(path, O_RDWR);
	if (file < 0)
		give_up(path, errno);
	for (done = 1; done <= count; done++) {
		cycle(file);
		if (done % (count / LINES + 1) == 0)
			printf("%ld cycles in %.0f s\n", done, (now_ns() - start) / 1e9);
	}
	printf("cycles %ld refused %ld seconds %.0f\n", count, refused, (now_ns() - start) / 1e9);
	if (count > 0) {
		tell(&removal);
		tell(&installation);
	}
	return 0;
}
