// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * measure-memory: measures whether two things pay on this machine's own kernel, making
 * pages present in bulk and huge pages. Remembers the result for libkadapt
 * (lib/pages/costs.h).
 *
 *	measure-memory			prints what is remembered; if nothing is, measures first
 *	measure-memory --again		measures in any case
 *	measure-memory --assume=WORDS	remembers that these pay: populate, huge, none
 *
 * It prints one line of JSON: what pays and, if it measured, the nanoseconds per page.
 * Time is this thread's processor time, so other programs on the machine matter little.
 *
 * What it gets wrong: most of the 8 MiB of a round is memory that was just freed. The
 * host of a virtual machine may have to supply memory that has not been used for long, a
 * huge page at a time, which took 5 ms each here. So in a virtual machine huge pages
 * never pay.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifdef __x86_64__
#include <cpuid.h>
#endif

#include "pages/costs.h"
#include "pages/machine.h"
#include "pages/pages.h"

#define ROUNDS 9
#define MEASURED_BYTES ((size_t)8 << 20)
#define MEASURED_PAGES (MEASURED_BYTES >> KADAPT_PAGE_SHIFT)
/* A gain below this share of the cost by faults does not count. */
#define LEAST_GAIN 0.05

enum way { BY_FAULTS, POPULATED, HUGE_PAGES, WAYS };

/* Nanoseconds per page, in ascending order after measure(). */
static double costs[WAYS][ROUNDS];

static void fail(const char *what)
{
	fprintf(stderr, "measure-memory: %s: %s\n", what, strerror(errno));
	exit(EXIT_FAILURE);
}

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* Maps fresh memory. Returns a multiple of a huge page in it; *whole is the mapping. */
static char *fresh(char **whole)
{
	*whole = mmap(NULL, MEASURED_BYTES + KADAPT_HUGE_BYTES, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (*whole == MAP_FAILED)
		fail("memory to measure with");
	return *whole + (KADAPT_HUGE_BYTES - 1) -
	       ((size_t)*whole + KADAPT_HUGE_BYTES - 1) % KADAPT_HUGE_BYTES;
}

/* Returns the cost per page of making it present in this way, writing it and giving it back. */
static double cost_of(enum way way)
{
	char *whole;
	char *memory = fresh(&whole);
	double start = now_ns(), end;

	if (way == POPULATED && !kadapt_pages_populate(memory, MEASURED_BYTES))
		return -1;
	if (way == HUGE_PAGES)
		kadapt_pages_ask_huge(memory, MEASURED_BYTES);
	for (size_t at = 0; at < MEASURED_BYTES; at += KADAPT_PAGE_BYTES)
		((volatile char *)memory)[at] = 1;
	munmap(whole, MEASURED_BYTES + KADAPT_HUGE_BYTES);
	end = now_ns();
	return (end - start) / (double)MEASURED_PAGES;
}

static int compare(const void *first, const void *second)
{
	double a = *(const double *)first, b = *(const double *)second;

	return (a > b) - (a < b);
}

/* The ways take turns, so that a change of the machine's speed meets all of them. */
static void measure(void)
{
	for (int round = 0; round < ROUNDS; round++)
		for (int way = 0; way < WAYS; way++)
			costs[way][round] = cost_of((enum way)way);
	for (int way = 0; way < WAYS; way++)
		qsort(costs[way], ROUNDS, sizeof(costs[way][0]), compare);
}

/* All but its `dearest` rounds must cost less than all but the two cheapest rounds by faults. */
static int pays(enum way way, int dearest)
{
	double limit = costs[BY_FAULTS][2] * (1 - LEAST_GAIN);

	return costs[way][0] >= 0 && costs[way][ROUNDS - 1 - dearest] < limit;
}

static int is_virtual(void)
{
#ifdef __x86_64__
	unsigned int a, b, features, d;

	return __get_cpuid(1, &a, &b, &features, &d) && features >> 31;
#else
	return 1;
#endif
}

static struct kadapt_costs found_costs(void)
{
	measure();
	return (struct kadapt_costs){
	    .populate_pays = pays(POPULATED, 2),
	    .huge_pays = kadapt_pages_has_huge() && !is_virtual() && pays(HUGE_PAGES, 0),
	};
}

static struct kadapt_costs assumed(const char *words)
{
	struct kadapt_costs found = {0};
	char text[64];

	snprintf(text, sizeof(text), "%s", words);
	for (char *word = strtok(text, ","); word; word = strtok(NULL, ",")) {
		if (!strcmp(word, "populate"))
			found.populate_pays = 1;
		else if (!strcmp(word, "huge"))
			found.huge_pays = 1;
		else if (strcmp(word, "none") != 0) {
			fprintf(stderr,
				"measure-memory: --assume takes populate, huge or none, not %s\n",
				word);
			exit(2);
		}
	}
	return found;
}

/* Makes the missing folders of the path, accessible to the user alone. */
static void make_folders(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(path, 0700) && errno != EEXIST)
			fail(path);
		*slash = '/';
	}
}

/* Writes under another name first: a reader finds the whole new file or the old one. */
static void write_file(char *path, const char *subject, struct kadapt_costs found)
{
	char other[KADAPT_COSTS_PATH_BYTES + 16];
	int file;
	FILE *stream;

	make_folders(path);
	snprintf(other, sizeof(other), "%s.%ld", path, (long)getpid());
	file = open(other, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	stream = file < 0 ? NULL : fdopen(file, "w");
	if (!stream)
		fail(other);
	fprintf(stream, KADAPT_COSTS_FORMAT "%s\n", found.populate_pays, found.huge_pays, subject);
	if (fclose(stream) || rename(other, path))
		fail(path);
}

static void print(struct kadapt_costs found, int is_measured)
{
	static const char *const names[] = {"faults_ns", "populated_ns", "huge_ns"};

	printf("{\"populate\": %s, \"huge\": %s, \"virtual\": %s",
	       found.populate_pays ? "true" : "false", found.huge_pays ? "true" : "false",
	       is_virtual() ? "true" : "false");
	for (int way = 0; is_measured && way < WAYS; way++)
		printf(", \"%s\": [%.0f, %.0f, %.0f]", names[way], costs[way][0],
		       costs[way][ROUNDS / 2], costs[way][ROUNDS - 1]);
	printf("}\n");
}

int main(int count, char **arguments)
{
	char subject[KADAPT_COSTS_SUBJECT_BYTES], path[KADAPT_COSTS_PATH_BYTES];
	const char *word = count == 2 ? arguments[1] : "";
	struct kadapt_costs found = {0};
	int is_again = !strcmp(word, "--again"), is_assumed = !strncmp(word, "--assume=", 9);

	if (count > 2 || (*word && !is_again && !is_assumed)) {
		fprintf(stderr, "usage: measure-memory [--again | --assume=WORDS]\n");
		return 2;
	}
	kadapt_costs_subject(subject, sizeof(subject));
	if (!kadapt_costs_path(path, sizeof(path), subject)) {
		fprintf(stderr, "measure-memory: there is no folder for the result: set HOME or "
				"KADENCE_CACHE to one\n");
		return EXIT_FAILURE;
	}
	if (!*word && kadapt_costs_read(path, subject, &found)) {
		print(found, 0);
		return 0;
	}
	found = is_assumed ? assumed(word + 9) : found_costs();
	write_file(path, subject, found);
	print(found, !is_assumed);
	return 0;
}
