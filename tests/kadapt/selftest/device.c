// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/sched/types.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "device.h"

int open_device(void)
{
	return open(DEVICE, O_RDWR | O_CLOEXEC);
}

int define(int device, uint32_t phase, uint64_t quantum_ns)
{
	struct kadapt_policy policy = {.phase = phase, .quantum_ns = quantum_ns};

	return ioctl(device, KADAPT_DEFINE, &policy);
}

int enter(int device, unsigned long phase)
{
	return ioctl(device, KADAPT_ENTER, phase);
}

int leave(int device)
{
	return ioctl(device, KADAPT_LEAVE, 0);
}

static struct kadapt_query query(void)
{
	struct kadapt_query answer = {0};
	int device = open_device();

	if (device >= 0) {
		ioctl(device, KADAPT_QUERY, &answer);
		close(device);
	}
	return answer;
}

uint64_t device_features(void)
{
	return query().features;
}

bool has_quantum(void)
{
	return device_features() & KADAPT_FEATURE_QUANTUM;
}

bool has_rings(void)
{
	return device_features() & KADAPT_FEATURE_RINGS;
}

bool has_memory(void)
{
	return device_features() & KADAPT_FEATURE_MEMORY;
}

uint64_t quantum_up_to(uint64_t wanted)
{
	uint64_t limit = query().quantum_max_ns;

	return wanted < limit ? wanted : limit;
}

uint64_t slice_of(pid_t thread)
{
	struct sched_attr attributes = {.size = sizeof(attributes)};

	if (syscall(SYS_sched_getattr, thread, &attributes, sizeof(attributes), 0))
		return 0;
	return attributes.sched_runtime;
}

int set_slice(uint64_t slice_ns)
{
	struct sched_attr attributes = {.size = sizeof(attributes), .sched_runtime = slice_ns};

	return (int)syscall(SYS_sched_setattr, 0, &attributes, 0);
}

int64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * NS_PER_S + time.tv_nsec;
}

int64_t tick(void)
{
	struct timespec resolution;

	/* The tick updates the coarse clocks. */
	clock_getres(CLOCK_MONOTONIC_COARSE, &resolution);
	return resolution.tv_nsec;
}

void spin_for(int64_t duration)
{
	int64_t end = now() + duration;

	while (now() < end)
		;
}

static long switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw + usage.ru_nivcsw;
}

int spin_unswitched(int64_t duration)
{
	int64_t give_up = now() + 20 * NS_PER_S;
	long last = switches();
	int64_t since = now();

	for (;;) {
		/* Read the clock before the count, or time in a switch would count as running. */
		int64_t time = now();

		if (time > give_up)
			return -1;
		if (switches() == last) {
			if (time - since >= duration)
				return 0;
			continue;
		}
		last = switches();
		since = now();
	}
}

void sleep_for(int64_t duration)
{
	struct timespec time = {.tv_sec = duration / NS_PER_S, .tv_nsec = duration % NS_PER_S};

	nanosleep(&time, NULL);
}

int in_child(int (*function)(void *), void *argument)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(function(argument));
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

void *shared_memory(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}
