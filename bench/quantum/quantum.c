/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * quantum TASK SIZE PROCESSES UNITS QUANTUM_NS
 *
 * Runs PROCESSES copies of a task at once, each doing UNITS units of work: `fibonacci` (SIZE is
 * not used) or `lu` with matrices of order SIZE. If QUANTUM_NS is not 0, each enters a phase with
 * that quantum. Prints one line of JSON: seconds from the common start to the last end, the
 * exchanges between the tasks, and the tasks' switches as getrusage(2) counts them.
 *
 * Each task gives signs of life, a few hundred to some thousands per second. If a task finds that
 * another task gave the last sign, it counts an exchange. Exchanges between two signs of life of
 * the same task are not counted. Switches to kernel threads are only in getrusage(2)'s figures.
 */
#include "tasks.h"

#include <fcntl.h>
#include <kadapt.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST_PROCESSES 64

struct outcome {
	double processor_seconds;
	long voluntary;
	long involuntary;
};

/* Shared by all processes. */
struct shared {
	_Atomic int last_alive;
	_Atomic long exchanges;
	struct outcome outcome[MOST_PROCESSES];
};

struct job {
	bool lu;
	int size;
	int processes;
	long units;
	unsigned long long quantum_ns;
};

struct self {
	struct shared *shared;
	int number;
};

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static long number(const char *text, long least, long most)
{
	char *end;
	long value = strtol(text, &end, 10);

	if (*end || end == text || value < least || value > most) {
		fprintf(stderr, "quantum: %s is not a number from %ld to %ld\n", text, least, most);
		exit(2);
	}
	return value;
}

static void sign(void *context)
{
	struct self *self = context;
	struct shared *shared = self->shared;

	if (atomic_load_explicit(&shared->last_alive, memory_order_relaxed) == self->number)
		return;
	if (atomic_exchange(&shared->last_alive, self->number) >= 0)
		atomic_fetch_add(&shared->exchanges, 1);
}

static void take_quantum(unsigned long long quantum_ns)
{
	struct kadapt_policy policy = {.phase = 0, .quantum_ns = quantum_ns};
	int device = open("/dev/kadapt", O_RDWR | O_CLOEXEC);

	if (device < 0)
		fail("/dev/kadapt");
	if (ioctl(device, KADAPT_DEFINE, &policy))
		fail("KADAPT_DEFINE");
	if (ioctl(device, KADAPT_ENTER, 0))
		fail("KADAPT_ENTER");
}

static int work(const struct job *job, struct lu *lu, struct self *self)
{
	for (long unit = 0; unit < job->units; unit++) {
		sign(self);
		if (lu ? lu_unit(lu, sign, self) : fibonacci_unit())
			return -1;
	}
	return 0;
}

static double seconds(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static void record(const struct rusage *before, struct outcome *outcome)
{
	struct rusage after;

	getrusage(RUSAGE_SELF, &after);
	outcome->processor_seconds = seconds(after.ru_utime) + seconds(after.ru_stime) -
				     seconds(before->ru_utime) - seconds(before->ru_stime);
	outcome->voluntary = after.ru_nvcsw - before->ru_nvcsw;
	outcome->involuntary = after.ru_nivcsw - before->ru_nivcsw;
}

/* A measured process: prepares, waits for the common start, works, and records its figures. */
static void measured(const struct job *job, struct self *self, int ready, int start)
{
	struct lu *lu = job->lu ? lu_make(job->size) : NULL;
	struct rusage before;
	char byte = 0;

	if (job->lu && !lu)
		fail("memory for the matrix");
	if (job->quantum_ns)
		take_quantum(job->quantum_ns);
	if (write(ready, &byte, 1) != 1 || read(start, &byte, 1) != 0)
		fail("waiting for the start");
	getrusage(RUSAGE_SELF, &before);
	if (work(job, lu, self)) {
		fprintf(stderr, "quantum: a task computed a wrong result\n");
		exit(1);
	}
	record(&before, &self->shared->outcome[self->number]);
	exit(0);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* All processes wait in read(start) until this process closes the writing end. */
static double run(const struct job *job, struct shared *shared)
{
	int ready[2], start[2], status, failures = 0;
	double begun;
	char byte;

	if (pipe(ready) || pipe(start))
		fail("pipe");
	for (int process = 0; process < job->processes; process++) {
		pid_t child = fork();

		if (child < 0)
			fail("fork");
		if (!child) {
			struct self self = {.shared = shared, .number = process};

			close(start[1]);
			measured(job, &self, ready[1], start[0]);
		}
	}
	close(ready[1]);
	for (int process = 0; process < job->processes; process++)
		if (read(ready[0], &byte, 1) != 1)
			exit(1);
	begun = now();
	close(start[1]);
	while (wait(&status) > 0)
		failures += status != 0;
	if (failures)
		exit(1);
	return now() - begun;
}

static void print(const struct job *job, const struct shared *shared, double elapsed)
{
	struct outcome sum = {0};

	for (int process = 0; process < job->processes; process++) {
		sum.processor_seconds += shared->outcome[process].processor_seconds;
		sum.voluntary += shared->outcome[process].voluntary;
		sum.involuntary += shared->outcome[process].involuntary;
	}
	printf("{\"seconds\": %.6f, \"processor_seconds\": %.6f, \"exchanges\": %ld, "
	       "\"voluntary\": %ld, \"involuntary\": %ld}\n",
	       elapsed, sum.processor_seconds, atomic_load(&shared->exchanges), sum.voluntary,
	       sum.involuntary);
}

int main(int count, char **words)
{
	struct shared *shared;
	struct job job;

	if (count != 6 || (strcmp(words[1], "fibonacci") && strcmp(words[1], "lu"))) {
		fprintf(stderr, "usage: quantum fibonacci|lu SIZE PROCESSES UNITS QUANTUM_NS\n");
		return 2;
	}
	job.lu = !strcmp(words[1], "lu");
	job.size = (int)number(words[2], 1, 20000);
	job.processes = (int)number(words[3], 1, MOST_PROCESSES);
	job.units = number(words[4], 1, 1000000000);
	job.quantum_ns = number(words[5], 0, 10000000000);
	shared =
	    mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		fail("mmap");
	atomic_store(&shared->last_alive, -1);
	print(&job, shared, run(&job, shared));
	return 0;
}
