// SPDX-License-Identifier: GPL-2.0-or-later
/* Calls that do next to nothing: the cost of entering the kernel and of decoding a call. */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kadapt.h"
#include "lab.h"

#define SHORT_QUANTUM_NS 50000000
#define LONG_QUANTUM_NS 100000000

/* As in Linux 6.12. The C library of Debian 12 has no declaration. */
struct scheduling {
	uint32_t size;
	uint32_t policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime;
	uint64_t deadline;
	uint64_t period;
};

static int run_million(long instructions, long count)
{
	for (long i = 0; i < count; i++)
		compute_exactly(instructions);
	return 0;
}

/* Without the C library's function, which would add a tenth to a call that does nothing. */
static int run_getppid(long unused, long count)
{
	(void)unused;
	for (long i = 0; i < count; i++) {
		long number = SYS_getppid;

		asm volatile("syscall" : "+a"(number) : : "rcx", "r11", "memory");
	}
	return 0;
}

/* Two quanta in turn, so that every call changes the quantum. */
static int run_sched_setattr(long unused, long count)
{
	struct scheduling quanta[2] = {
	    {.size = sizeof(quanta[0]), .runtime = SHORT_QUANTUM_NS},
	    {.size = sizeof(quanta[0]), .runtime = LONG_QUANTUM_NS},
	};

	(void)unused;
	for (long i = 0; i < count; i++)
		if (syscall(SYS_sched_setattr, 0, &quanta[i & 1], 0))
			return -errno;
	return 0;
}

static int device = -1;

static int open_device(long unused)
{
	struct kadapt_query query = {0};
	struct kadapt_policy policies[2] = {{.phase = 0}, {.phase = 1}};

	(void)unused;
	device = open("/dev/kadapt", O_RDWR | O_CLOEXEC);
	if (device < 0 || ioctl(device, KADAPT_QUERY, &query))
		return -errno;
	if (query.features & KADAPT_FEATURE_QUANTUM) {
		policies[0].quantum_ns = SHORT_QUANTUM_NS;
		policies[1].quantum_ns = LONG_QUANTUM_NS;
	}
	for (int i = 0; i < 2; i++)
		if (ioctl(device, KADAPT_DEFINE, &policies[i]))
			return -errno;
	return 0;
}

/* Two phases in turn, because entering the current phase does nothing. */
static int run_phase(long unused, long count)
{
	(void)unused;
	for (long i = 0; i < count; i++)
		if (ioctl(device, KADAPT_ENTER, i & 1))
			return -errno;
	return 0;
}

static void close_device(void)
{
	if (device >= 0)
		close(device);
	device = -1;
}

const struct operation call_operations[] = {
    {
	.name = "million",
	.unit = "ns",
	.argument = 1000000,
	.batch = 10,
	.crossings = 0,
	.run = run_million,
    },
    {
	.name = "getppid",
	.unit = "ns",
	.batch = 10000,
	.crossings = 1,
	.run = run_getppid,
    },
    {
	.name = "sched_setattr",
	.unit = "ns",
	.batch = 2000,
	.crossings = 1,
	.run = run_sched_setattr,
    },
    {
	.name = "phase",
	.unit = "ns",
	.batch = 2000,
	.crossings = 1,
	.prepare = open_device,
	.run = run_phase,
	.finish = close_device,
    },
    {0},
};
