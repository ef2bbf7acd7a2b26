// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Saves the counters of a kernel with GCOV_KERNEL. The kernel shows a file for each object; all go
 * into one file of the host, each with a line "BYTES PATH" before it.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "init.h"

#define DEBUG "/sys/kernel/debug"
#define COUNTERS DEBUG "/gcov"
#define SUFFIX ".gcda"
#define STEP_BYTES 65536
#define MOST_OPEN 16

static FILE *saved;

void counters_clear(void)
{
	int reset;

	if (!getenv("KADENCE_COUNTERS"))
		return;
	if (mount("debugfs", DEBUG, "debugfs", MS_NOSUID, NULL) && errno != EBUSY)
		give_up(DEBUG);
	reset = open(COUNTERS "/reset", O_WRONLY | O_CLOEXEC);
	if (reset < 0 || write(reset, "0", 1) != 1)
		give_up(COUNTERS "/reset");
	close(reset);
}

/* The kernel says 0 bytes of each file, so the end shows only in reading. */
static char *content_of(const char *path, size_t *bytes)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	char *content = NULL;
	ssize_t got = -1;

	*bytes = 0;
	while (file >= 0) {
		char *larger = realloc(content, *bytes + STEP_BYTES);

		if (!larger)
			break;
		content = larger;
		got = read(file, content + *bytes, STEP_BYTES);
		if (got <= 0)
			break;
		*bytes += (size_t)got;
	}
	if (got)
		give_up(path);
	close(file);
	return content;
}

static int save_one(const char *path, const struct stat *status, int type, struct FTW *where)
{
	const size_t length = strlen(path);
	size_t bytes;
	char *content;

	(void)status;
	(void)where;
	if (type != FTW_F || length < strlen(SUFFIX) ||
	    strcmp(path + length - strlen(SUFFIX), SUFFIX) != 0)
		return 0;
	content = content_of(path, &bytes);
	fprintf(saved, "%zu %s\n", bytes, path + strlen(COUNTERS));
	fwrite(content, 1, bytes, saved);
	free(content);
	return 0;
}

void counters_save(void)
{
	const char *place = getenv("KADENCE_COUNTERS");

	if (!place)
		return;
	saved = fopen(place, "we");
	/* An object's source, a link, leads out of the tree. */
	if (!saved || nftw(COUNTERS, save_one, MOST_OPEN, FTW_PHYS) || fclose(saved))
		give_up(place);
}
