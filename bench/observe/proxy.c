// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A proxy's cache of files, as in KernInst's case: each object that arrives takes the file of an
 * older one, whose name is looked up.
 *
 *	proxy FOLDER truncate|overwrite OBJECTS
 *
 * The objects are section 1 of QEMU's plugin. `overwrite` is the paper's second fix: the file is
 * written in place, and gets its length at the end.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mark.h"

#define FOLDERS 8
#define FILES 10000 /* in all folders */
#define LEAST 4096
#define MOST (12 << 10)
#define PATH_BYTES 256

static char object[MOST];

static void must(long result, const char *what)
{
	if (result < 0) {
		perror(what);
		exit(1);
	}
}

static void name(char *path, const char *cache, unsigned int number)
{
	snprintf(path, PATH_BYTES, "%s/%u/%u", cache, number % FOLDERS, number);
}

static size_t size_of(unsigned int number)
{
	return LEAST + number * 2654435761u % (MOST - LEAST);
}

static void store(const char *cache, unsigned int number, size_t size, bool truncates)
{
	char path[PATH_BYTES];
	int file;

	name(path, cache, number);
	file = open(path, O_WRONLY | O_CREAT | (truncates ? O_TRUNC : 0), 0600);
	must(file, path);
	must(write(file, object, size), path);
	if (!truncates)
		must(ftruncate(file, size), path);
	close(file);
}

static void fill(const char *cache)
{
	char path[PATH_BYTES];

	for (int i = 0; i < FOLDERS; i++) {
		snprintf(path, sizeof(path), "%s/%d", cache, i);
		must(mkdir(path, 0700), path);
	}
	for (unsigned int i = 0; i < FILES; i++)
		store(cache, i, size_of(i), false);
}

int main(int count, char **words)
{
	bool truncates;
	int objects;

	if (count != 4)
		return 2;
	truncates = !strcmp(words[2], "truncate");
	objects = atoi(words[3]);
	fill(words[1]);
	sync();
	KADENCE_MARK("1");
	for (int i = 0; i < objects; i++)
		store(words[1], i * 40503u % FILES, size_of(i * 7), truncates);
	KADENCE_MARK("0");
	return 0;
}
