// SPDX-License-Identifier: GPL-2.0-or-later
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device.h"
#include "neighbour.h"

#define WAITS_MAX 65536

struct neighbour {
	pid_t pid;
	volatile int started;
	volatile int64_t last_look;
	volatile int count;
	struct {
		int64_t begin, end;
	} waits[WAITS_MAX];
};

static void join_group(const char *file_name)
{
	int file = open(file_name, O_WRONLY);

	if (file < 0 || write(file, "0", 1) != 1)
		_exit(1);
	close(file);
}

static void watch_clock(struct neighbour *neighbour)
{
	int64_t shortest = tick() / 2;
	int64_t last = now();

	for (neighbour->started = 1;;) {
		int64_t time = now();

		if (time - last > shortest && neighbour->count < WAITS_MAX) {
			neighbour->waits[neighbour->count].begin = last;
			neighbour->waits[neighbour->count].end = time;
			neighbour->count++;
		}
		neighbour->last_look = last = time;
	}
}

struct neighbour *neighbour_start(const char *group_file)
{
	struct neighbour *neighbour = shared_memory(sizeof(*neighbour));
	pid_t pid;

	if (!neighbour)
		return NULL;
	pid = fork();
	if (pid == 0) {
		if (group_file)
			join_group(group_file);
		watch_clock(neighbour);
	}
	neighbour->pid = pid;
	for (int i = 0; i < 1000 && !neighbour->started; i++)
		sleep_for(NS_PER_MS);
	return neighbour->started ? neighbour : NULL;
}

void neighbour_stop(struct neighbour *neighbour)
{
	kill(neighbour->pid, SIGKILL);
	waitpid(neighbour->pid, NULL, 0);
}

static int64_t overlap(int64_t begin, int64_t end, int64_t from, int64_t to)
{
	begin = begin > from ? begin : from;
	end = end < to ? end : to;
	return end > begin ? end - begin : 0;
}

int64_t neighbour_longest_wait(const struct neighbour *neighbour, int64_t from, int64_t to)
{
	/* The list lacks the wait that has not ended. */
	int64_t longest = overlap(neighbour->last_look, to, from, to);

	for (int i = 0; i < neighbour->count; i++) {
		int64_t wait =
		    overlap(neighbour->waits[i].begin, neighbour->waits[i].end, from, to);

		longest = wait > longest ? wait : longest;
	}
	return longest;
}

static int compare(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	return (a > b) - (a < b);
}

int64_t median(int64_t *values, int count)
{
	qsort(values, (size_t)count, sizeof(*values), compare);
	return values[count / 2];
}

int64_t second(int64_t *values, int count)
{
	median(values, count);
	return values[count > 1];
}
