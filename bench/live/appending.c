// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measures writes to a file in a guest whose clock counts instructions.
 *
 *	appending FILE [UNIT]      for each kind "NAME INSTRUCTIONS", in a phase that takes the
 *unit, and "bytes CHECKSUM" of a file that writes of many sizes made
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "kadapt.h"

#define MOST_BYTES 8192
/* The least of several rounds: a timer's interrupt falls into some of them. */
#define ROUNDS 9
#define RECORDS 5000

static char bytes[MOST_BYTES];

static int64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void write_bytes(int file, size_t count)
{
	if (write(file, bytes, count) != (ssize_t)count)
		fail("write");
}

static double round_of(int file, size_t count, int times)
{
	int64_t begin = now_ns();

	for (int i = 0; i < times; i++)
		write_bytes(file, count);
	return (double)(now_ns() - begin) / times;
}

static void print_appends(int file, const char *name, size_t count, int times)
{
	double least = 0, each;

	for (int round = 0; round < ROUNDS; round++) {
		if (ftruncate(file, 0))
			fail("ftruncate");
		each = round_of(file, count, times);
		if (!round || each < least)
			least = each;
	}
	printf("%s %.1f\n", name, least);
}

static void write_many_sizes(int file)
{
	unsigned int state = 1;

	if (ftruncate(file, 0))
		fail("ftruncate");
	for (int i = 0; i < RECORDS; i++) {
		state = state * 1103515245 + 12345;
		memset(bytes, (char)(state >> 16), sizeof(bytes));
		write_bytes(file, 1 + (state >> 8) % (i % 10 ? 200 : MOST_BYTES));
	}
}

/* FNV-1a (Fowler, Noll, Vo), modulo a number that a double holds. */
static void print_checksum(int file)
{
	uint64_t sum = 14695981039346656037ULL;
	ssize_t count;

	lseek(file, 0, SEEK_SET);
	while ((count = read(file, bytes, sizeof(bytes))) > 0)
		for (ssize_t i = 0; i < count; i++)
			sum = (sum ^ (unsigned char)bytes[i]) * 1099511628211ULL;
	printf("bytes %llu\n", (unsigned long long)(sum % 1000000007));
}

static void take(const char *unit)
{
	struct kadapt_policy policy = {.phase = 1};
	struct kadapt_take taken = {.phase = 1};
	int device = open("/dev/kadapt", O_RDWR | O_CLOEXEC);

	strncpy(taken.unit, unit, sizeof(taken.unit) - 1);
	if (ioctl(device, KADAPT_DEFINE, &policy) || ioctl(device, KADAPT_TAKE, &taken) ||
	    ioctl(device, KADAPT_ENTER, 1))
		fail(unit);
}

int main(int count, char **words)
{
	int file;

	if (count < 2)
		return 1;
	if (count > 2)
		take(words[2]);
	file = open(words[1], O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600);
	if (file < 0)
		fail(words[1]);
	print_appends(file, "append16", 16, 2000);
	print_appends(file, "append4096", 4096, 500);
	write_many_sizes(file);
	print_checksum(file);
	if (fsync(file))
		fail("fsync");
	return 0;
}
