// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Programs that a kernel makes slow: by a function of planted.c, or by an option or a mount flag of
 * the guest. Prints lines "case N NAME"; case N is section N + 1. "planted FOLDER": the folder is
 * on the file system that is mounted with the flag.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../section.h"

#define TIMES 30
#define TURNS 100000
#define TURNS_OF_TICKS 10000000
#define NAMES 3000
#define MOUNTS 300
#define PATH_BYTES 256

static void must(long result, const char *what)
{
	if (result < 0) {
		perror(what);
		exit(1);
	}
}

static void begin(const char *name)
{
	static int number;

	printf("case %d %s\n", number++, name);
	fflush(stdout);
	mark(number);
}

static void compute(int turns)
{
	for (volatile int turn = 0; turn < turns; turn++)
		;
}

static void call(const char *name)
{
	int file = open("/proc/planted", O_WRONLY);

	must(file, "/proc/planted");
	begin(name);
	/* So long that the timer interrupts before the first system call. */
	compute(TURNS_OF_TICKS);
	for (int i = 0; i < TIMES; i++) {
		/* So long that the task that holds the locks has them again. */
		compute(TURNS);
		must(write(file, name, strlen(name)), name);
	}
	mark(0);
	close(file);
}

/* A cache of kernel objects that checks each of them. */
static void checked_objects(void)
{
	begin("objects");
	for (int i = 0; i < 20 * TIMES; i++) {
		int ends[2];

		must(pipe(ends), "pipe");
		close(ends[0]);
		close(ends[1]);
	}
	mark(0);
}

static void name(char *path, const char *folder, int number)
{
	snprintf(path, PATH_BYTES, "%s/%d", folder, number);
}

/* A table of names with few places. */
static void colliding_names(void)
{
	char path[PATH_BYTES];
	struct stat found;

	for (int i = 0; i < NAMES; i++) {
		name(path, "/tmp", i);
		close(open(path, O_CREAT | O_WRONLY, 0600));
	}
	begin("names");
	for (int i = 0; i < NAMES; i++) {
		name(path, "/tmp", i);
		must(stat(path, &found), path);
	}
	mark(0);
	for (int i = 0; i < NAMES; i++) {
		name(path, "/tmp", i);
		unlink(path);
	}
}

/* A table of mounts with few places. */
static void colliding_mounts(void)
{
	char path[PATH_BYTES];
	struct stat found;

	for (int i = 0; i < MOUNTS; i++) {
		name(path, "/mounts", i);
		must(mkdir(path, 0700), path);
		must(mount("/tmp", path, NULL, MS_BIND, NULL), path);
	}
	begin("mounts");
	for (int round = 0; round < 3; round++)
		for (int i = 0; i < MOUNTS; i++) {
			name(path, "/mounts", i);
			must(stat(path, &found), path);
		}
	mark(0);
}

/* A file system that gives each file a large page. */
static void large_pages(const char *folder)
{
	char path[PATH_BYTES];

	begin("large");
	for (int i = 0; i < TIMES; i++) {
		int file;

		name(path, folder, i);
		file = open(path, O_CREAT | O_WRONLY, 0600);
		must(write(file, path, 1), path);
		close(file);
	}
	mark(0);
}

int main(int count, char **words)
{
	if (count != 2)
		return 2;
	call("sleep");
	call("spin");
	call("search");
	call("clear");
	call("mutex");
	call("readers");
	call("completion");
	call("checksum");
	checked_objects();
	large_pages(words[1]);
	colliding_names();
	colliding_mounts();
	return 0;
}
