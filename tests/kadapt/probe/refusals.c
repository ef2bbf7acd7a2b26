// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Calls that the device must refuse, one line each: "NAME ERRNO". The argument is the address, in
 * hexadecimal, of a function that can be traced.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kadapt_probe.h"

static uint64_t address;

static void told(const char *name, long result)
{
	printf("%s %d\n", name, result < 0 ? errno : 0);
}

static int fresh(void)
{
	return open("/dev/kadapt_probe", O_RDWR | O_CLOEXEC);
}

static int arm(int device, struct kadapt_probe_function *functions, uint32_t count)
{
	struct kadapt_probe_arm arm = {.functions = (uintptr_t)functions, .count = count};

	return ioctl(device, KADAPT_PROBE_ARM, &arm);
}

static int arm_one(int device, struct kadapt_probe_function function)
{
	return arm(device, &function, 1);
}

static int arm_with_events(int device, uint32_t events)
{
	struct kadapt_probe_function function = {address, 0, 0};
	struct kadapt_probe_arm arm = {
	    .functions = (uintptr_t)&function, .count = 1, .events = events};

	return ioctl(device, KADAPT_PROBE_ARM, &arm);
}

static void refuse_functions(int device)
{
	struct kadapt_probe_function twice[] = {{.address = address}, {.address = address}};

	told("kind", arm_one(device, (struct kadapt_probe_function){address, 5, 0}));
	told("tracepoint", arm_one(device, (struct kadapt_probe_function){address, 4, 0}));
	told("reserved", arm_one(device, (struct kadapt_probe_function){address, 0, 1}));
	told("few-events", arm_with_events(device, KADAPT_PROBE_EVENTS_LEAST - 1));
	told("many-events", arm_with_events(device, KADAPT_PROBE_EVENTS_MOST + 1));
	told("address", arm_one(device, (struct kadapt_probe_function){address + 1, 0, 0}));
	told("user-address", arm_one(device, (struct kadapt_probe_function){0x1000, 0, 0}));
	told("twice", arm(device, twice, 2));
	told("none", arm(device, twice, 0));
	told("many", arm(device, twice, KADAPT_PROBE_FUNCTIONS + 1));
	told("pointer", arm(device, (struct kadapt_probe_function *)8, 1));
	told("argument", ioctl(device, KADAPT_PROBE_ARM, 8));
	told("call", ioctl(device, _IO(KADAPT_PROBE_TYPE, 9)));
}

static void *map(int device, int protection)
{
	return mmap(NULL, 4096, protection, MAP_SHARED, device, 0);
}

static void refuse_tasks(int device)
{
	pid_t child = fork();

	if (child == 0)
		_exit(0);
	waitid(P_PID, child, NULL, WEXITED | WNOWAIT);
	told("ended-task", ioctl(device, KADAPT_PROBE_TASK, child));
	waitpid(child, NULL, 0);
	told("no-task", ioctl(device, KADAPT_PROBE_TASK, child));
	told("large-task", ioctl(device, KADAPT_PROBE_TASK, 1L << 40));
	told("task", ioctl(device, KADAPT_PROBE_TASK, getpid()));
	told("same-task", ioctl(device, KADAPT_PROBE_TASK, getpid()));
}

int main(int count, char **words)
{
	int device, other;

	if (count != 2)
		return 2;
	address = strtoull(words[1], NULL, 16);
	device = fresh();
	refuse_functions(device);
	told("early-task", ioctl(device, KADAPT_PROBE_TASK, getpid()));
	told("early-map", map(device, PROT_READ) == MAP_FAILED ? -1 : 0);
	told("arm", arm_one(device, (struct kadapt_probe_function){address, 1, 0}));
	told("again", arm_one(device, (struct kadapt_probe_function){address, 1, 0}));
	other = fresh();
	told("other", arm_one(other, (struct kadapt_probe_function){address, 1, 0}));
	told("other-task", ioctl(other, KADAPT_PROBE_TASK, getpid()));
	told("writable-map", map(device, PROT_READ | PROT_WRITE) == MAP_FAILED ? -1 : 0);
	told("map", map(device, PROT_READ) == MAP_FAILED ? -1 : 0);
	refuse_tasks(device);
	if (setuid(1000))
		return 1;
	told("user", fresh());
	return 0;
}
