// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * attach FUNCTIONS CYCLES: instruments functions of the running kernel and lets them go, so often.
 *
 * FUNCTIONS has lines "ADDRESS KIND". Each cycle takes some of them, by chance few that have stubs
 * of their own or many that share one, with events or without. It observes all tasks that it finds,
 * reads the records while they change, and closes the device, in a third of the cycles by being
 * killed. Prints "cycles N refused N functions N tasks N calls N".
 */
#include <ctype.h>
#include <dirent.h>
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
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kadapt_probe.h"

#define MOST 64
#define LONGEST_US 3000
#define BUSY_US 20000
#define EVENTS_POWER 14

static struct kadapt_probe_function functions[MOST];
static unsigned int count;

/* Of all cycles; their processes share it. */
static struct tally {
	unsigned long refused, functions, tasks, calls;
} * tally;

static unsigned int dice(unsigned int sides)
{
	static unsigned int state = 1;

	state = state * 1103515245 + 12345;
	return (state >> 16 & 0x7fff) % sides;
}

static void rest(unsigned int microseconds)
{
	const struct timespec time = {.tv_nsec = microseconds * 1000L};

	nanosleep(&time, NULL);
}

static void __attribute__((noreturn)) fail(const char *what)
{
	perror(what);
	exit(1);
}

static void read_functions(const char *path)
{
	FILE *file = fopen(path, "r");

	if (!file)
		fail(path);
	while (count < MOST && fscanf(file, "%" SCNx64 " %u", (uint64_t *)&functions[count].address,
				      &functions[count].kind) == 2)
		count++;
	fclose(file);
}

static void shuffle(void)
{
	for (unsigned int i = count - 1; i > 0; i--) {
		unsigned int other = dice(i + 1);
		struct kadapt_probe_function kept = functions[i];

		functions[i] = functions[other];
		functions[other] = kept;
	}
}

/* The last session may not have drained. */
static int armed(struct kadapt_probe_arm *arm)
{
	int device = open("/dev/kadapt_probe", O_RDWR | O_CLOEXEC);

	if (device < 0)
		fail("/dev/kadapt_probe");
	while (ioctl(device, KADAPT_PROBE_ARM, arm)) {
		if (errno != EBUSY)
			fail("KADAPT_PROBE_ARM");
		tally->refused++;
		rest(BUSY_US);
	}
	return device;
}

static void observe_all(int device)
{
	DIR *folder = opendir("/proc");
	struct dirent *entry;

	while ((entry = readdir(folder))) {
		int task = isdigit(*entry->d_name) ? atoi(entry->d_name) : 0;

		/* Many have ended meanwhile. */
		if (task > 1 && task != getpid() && !ioctl(device, KADAPT_PROBE_TASK, task))
			tally->tasks++;
	}
	closedir(folder);
}

static unsigned long calls_of(const struct kadapt_probe_record *record)
{
	unsigned long calls = record->unended;

	for (int i = 0; i < KADAPT_PROBE_BUCKETS; i++)
		calls += record->histogram[i];
	return calls;
}

static void read_pool(int device, const struct kadapt_probe_arm *arm)
{
	const struct kadapt_probe_pool *pool =
	    mmap(NULL, arm->map_bytes, PROT_READ, MAP_SHARED, device, 0);

	if (pool == MAP_FAILED)
		fail("mmap");
	for (unsigned int block = 1; block < pool->blocks; block++)
		for (unsigned int i = 0; i < pool->functions; i++)
			tally->calls +=
			    calls_of((const void *)((const char *)pool + pool->records_at +
						    block * pool->records_bytes +
						    i * sizeof(struct kadapt_probe_record)));
	/* The mapping stays until the process ends, also behind the close. */
}

static void cycle(bool is_killed)
{
	unsigned int chosen = dice(2) ? 1 + dice(4) : 17 + dice(count - 16);
	struct kadapt_probe_arm arm = {
	    .functions = (uintptr_t)functions,
	    .count = chosen,
	    .pool_bytes = 1 << 20,
	    .events = dice(2) ? EVENTS_POWER : 0,
	};
	int device = armed(&arm);

	tally->functions += chosen;
	observe_all(device);
	rest(1 + dice(LONGEST_US));
	read_pool(device, &arm);
	if (is_killed)
		raise(SIGKILL);
	close(device);
	_exit(0);
}

int main(int words, char **word)
{
	int cycles = words == 3 ? atoi(word[2]) : 0, status;

	if (!cycles)
		return 2;
	read_functions(word[1]);
	tally =
	    mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (count < 18 || tally == MAP_FAILED)
		fail(word[1]);
	for (int i = 0; i < cycles; i++) {
		bool is_killed = !dice(3);
		pid_t child;

		shuffle();
		child = fork();
		if (child == 0)
			cycle(is_killed);
		if (waitpid(child, &status, 0) != child || WIFSIGNALED(status) != is_killed ||
		    (!is_killed && status))
			fail("a cycle");
	}
	printf("cycles %d refused %lu functions %lu tasks %lu calls %lu\n", cycles, tally->refused,
	       tally->functions, tally->tasks, tally->calls);
	return 0;
}
