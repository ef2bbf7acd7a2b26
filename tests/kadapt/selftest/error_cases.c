// SPDX-License-Identifier: GPL-2.0-or-later
/* Causes every error that uapi/kadapt.h lists, except those of rings, batches and ranges. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device.h"
#include "harness.h"

#define LIMIT_FILE "/sys/module/kadapt/parameters/quantum_max_ns"
#define DEBUG_FOLDER "/sys/kernel/debug"
#define BAD_ADDRESS ((void *)8)

/* The same call with a structure of another size. */
#define RESIZED(request, size)                                                                     \
	(((request) & ~(unsigned long)IOCSIZE_MASK) | ((unsigned long)(size) << IOCSIZE_SHIFT))

#define KNOWN_FEATURES                                                                             \
	(uint64_t)(KADAPT_FEATURE_QUANTUM | KADAPT_FEATURE_RINGS | KADAPT_FEATURE_SHORT_DELAYS |   \
		   KADAPT_FEATURE_BATCHES | KADAPT_FEATURE_MEMORY | KADAPT_FEATURE_UNITS)

/* Version 1's lengths of the structures that have grown since. */
#define QUERY_SIZE_1 offsetof(struct kadapt_query, delay_min_ns)
#define POLICY_SIZE_1 offsetof(struct kadapt_policy, file_delay_ns)
#define COUNTERS_SIZE_1 offsetof(struct kadapt_counters, minor_faults)

static enum outcome test_query(void)
{
	struct kadapt_query query;
	int device = open_device();

	memset(&query, 0xff, sizeof(query));
	CHECK(device >= 0);
	CHECK(ioctl(device, KADAPT_QUERY, &query) == 0);
	CHECK(query.version == KADAPT_VERSION);
	CHECK(query.phases == 256);
	CHECK((query.features & ~KNOWN_FEATURES) == 0);
	if (query.features & KADAPT_FEATURE_QUANTUM) {
		CHECK(query.quantum_min_ns == 100000);
		CHECK(query.quantum_max_ns >= 100000);
		CHECK(query.quantum_max_ns <= 10000000000);
	} else {
		CHECK(query.quantum_min_ns == 0 && query.quantum_max_ns == 0);
	}
	return PASSED;
}

static enum outcome test_enotty(void)
{
	int device = open_device();

	CHECK_ERRNO(ioctl(device, _IO(KADAPT_TYPE, 99), 0), ENOTTY);
	CHECK_ERRNO(ioctl(device, _IO('T', 0), 0), ENOTTY);
	/* The right number with the wrong direction is another call. */
	CHECK_ERRNO(ioctl(device, _IOR(KADAPT_TYPE, 1, struct kadapt_policy), 0), ENOTTY);
	CHECK_ERRNO(ioctl(device, RESIZED(KADAPT_ENTER, 4), 0), ENOTTY);
	return PASSED;
}

static enum outcome test_efault(void)
{
	int device = open_device();

	CHECK_ERRNO(ioctl(device, KADAPT_QUERY, BAD_ADDRESS), EFAULT);
	CHECK_ERRNO(ioctl(device, KADAPT_DEFINE, BAD_ADDRESS), EFAULT);
	CHECK_ERRNO(ioctl(device, KADAPT_COUNTERS, BAD_ADDRESS), EFAULT);
	return PASSED;
}

static enum outcome test_short_structure(void)
{
	char room[256] = {0};
	int device = open_device();

	CHECK_ERRNO(ioctl(device, RESIZED(KADAPT_QUERY, QUERY_SIZE_1 - 8), room), EINVAL);
	CHECK(ioctl(device, RESIZED(KADAPT_QUERY, QUERY_SIZE_1), room) == 0);
	memset(room, 0, sizeof(room));
	CHECK_ERRNO(ioctl(device, RESIZED(KADAPT_DEFINE, POLICY_SIZE_1 - 8), room), EINVAL);
	CHECK(ioctl(device, RESIZED(KADAPT_DEFINE, POLICY_SIZE_1), room) == 0);
	CHECK_ERRNO(ioctl(device, RESIZED(KADAPT_COUNTERS, COUNTERS_SIZE_1 - 8), room), EINVAL);
	CHECK(ioctl(device, RESIZED(KADAPT_COUNTERS, COUNTERS_SIZE_1), room) == 0);
	return PASSED;
}

static enum outcome test_longer_structure(void)
{
	char room[256] = {0};
	int device = open_device();

	CHECK(ioctl(device, RESIZED(KADAPT_DEFINE, sizeof(room)), room) == 0);
	CHECK(ioctl(device, RESIZED(KADAPT_COUNTERS, sizeof(room)), room) == 0);
	room[0] = 1;
	room[sizeof(room) - 1] = 1;
	CHECK_ERRNO(ioctl(device, RESIZED(KADAPT_DEFINE, sizeof(room)), room), E2BIG);
	CHECK_ERRNO(ioctl(device, RESIZED(KADAPT_COUNTERS, sizeof(room)), room), E2BIG);
	/* Fields that the kernel does not know come back as zero. */
	memset(room, 0xff, sizeof(room));
	CHECK(ioctl(device, RESIZED(KADAPT_QUERY, sizeof(room)), room) == 0);
	for (size_t i = sizeof(struct kadapt_query); i < sizeof(room); i++)
		CHECK(room[i] == 0);
	return PASSED;
}

static enum outcome test_define_einval(void)
{
	struct kadapt_policy flags = {.phase = 0, .flags = 1U << 31};
	struct kadapt_policy phase = {.phase = 256};
	int device = open_device();

	CHECK_ERRNO(ioctl(device, KADAPT_DEFINE, &flags), EINVAL);
	CHECK_ERRNO(ioctl(device, KADAPT_DEFINE, &phase), EINVAL);
	CHECK_ERRNO(enter(device, 0), ENOENT);
	return PASSED;
}

static enum outcome test_define_eexist(void)
{
	int device = open_device();

	CHECK(define(device, 255, 0) == 0);
	CHECK_ERRNO(define(device, 255, 0), EEXIST);
	return PASSED;
}

static enum outcome test_define_erange(void)
{
	struct kadapt_query query = {0};
	int device = open_device();

	if (!has_quantum())
		return skip("this kernel has no quantum");
	CHECK(ioctl(device, KADAPT_QUERY, &query) == 0);
	CHECK_ERRNO(define(device, 0, query.quantum_min_ns - 1), ERANGE);
	CHECK_ERRNO(define(device, 0, query.quantum_max_ns + 1), ERANGE);
	CHECK_ERRNO(define(device, 0, UINT64_MAX), ERANGE);
	CHECK(define(device, 0, query.quantum_min_ns) == 0);
	CHECK(define(device, 1, query.quantum_max_ns) == 0);
	return PASSED;
}

static enum outcome test_quantum_eopnotsupp(void)
{
	int device = open_device();

	if (has_quantum())
		return skip("this kernel has the quantum");
	CHECK_ERRNO(define(device, 0, 1000000), EOPNOTSUPP);
	CHECK(define(device, 0, 0) == 0);
	CHECK(enter(device, 0) == 0);
	CHECK(leave(device) == 0);
	return PASSED;
}

static enum outcome test_enter_enoent(void)
{
	int device = open_device();

	CHECK(define(device, 1, 0) == 0);
	CHECK_ERRNO(enter(device, 0), ENOENT);
	CHECK_ERRNO(enter(device, 256), ENOENT);
	CHECK_ERRNO(enter(device, 1UL << 32 | 1), ENOENT);
	CHECK_ERRNO(enter(device, ~0UL), ENOENT);
	return PASSED;
}

static enum outcome test_enter_ebusy(void)
{
	int first = open_device();
	int second = open_device();

	CHECK(define(first, 0, 0) == 0 && define(second, 0, 0) == 0);
	CHECK(enter(first, 0) == 0);
	CHECK_ERRNO(enter(second, 0), EBUSY);
	/* Leaving through the wrong open file changes nothing. */
	CHECK(leave(second) == 0);
	CHECK_ERRNO(enter(second, 0), EBUSY);
	CHECK(close(first) == 0);
	CHECK(enter(second, 0) == 0);
	return PASSED;
}

static enum outcome test_enter_eopnotsupp(void)
{
	struct sched_param fifo = {.sched_priority = 1};
	int device = open_device();

	if (!has_quantum())
		return skip("this kernel has no quantum");
	CHECK(define(device, 0, 1000000) == 0 && define(device, 1, 0) == 0);
	if (sched_setscheduler(0, SCHED_FIFO, &fifo))
		return skip("not allowed to become SCHED_FIFO");
	CHECK_ERRNO(enter(device, 0), EOPNOTSUPP);
	CHECK(enter(device, 1) == 0);
	/* The failed call leaves the thread where it was. */
	CHECK_ERRNO(enter(device, 0), EOPNOTSUPP);
	CHECK(leave(device) == 0);
	return PASSED;
}

static enum outcome test_leave_einval(void)
{
	int device = open_device();

	CHECK_ERRNO(ioctl(device, KADAPT_LEAVE, 1), EINVAL);
	CHECK(leave(device) == 0);
	CHECK(leave(device) == 0);
	return PASSED;
}

static enum outcome test_counters_errors(void)
{
	struct kadapt_counters flags = {.phase = 0, .flags = 1U << 31};
	struct kadapt_counters phase = {.phase = 1};
	int device = open_device();

	CHECK(define(device, 0, 0) == 0);
	CHECK_ERRNO(ioctl(device, KADAPT_COUNTERS, &flags), EINVAL);
	CHECK_ERRNO(ioctl(device, KADAPT_COUNTERS, &phase), ENOENT);
	return PASSED;
}

static int calls_of_a_stranger(void *argument)
{
	struct kadapt_counters counters = {0};
	struct kadapt_query query;
	int device = *(int *)argument;

	CHECK_ERRNO(define(device, 1, 0), EPERM);
	CHECK_ERRNO(enter(device, 0), EPERM);
	CHECK_ERRNO(leave(device), EPERM);
	CHECK_ERRNO(ioctl(device, KADAPT_COUNTERS, &counters), EPERM);
	CHECK(ioctl(device, KADAPT_QUERY, &query) == 0);
	return PASSED;
}

static enum outcome test_eperm(void)
{
	int device = open_device();

	CHECK(define(device, 0, 0) == 0);
	CHECK(in_child(calls_of_a_stranger, &device) == PASSED);
	CHECK(enter(device, 0) == 0);
	return PASSED;
}

static enum outcome test_eacces(void)
{
	struct stat node;

	CHECK(stat(DEVICE, &node) == 0);
	if (node.st_mode & S_IROTH)
		return skip("here the device is everyone's");
	if (setgid(65534) || setuid(65534))
		return skip("not allowed to become another user");
	CHECK_ERRNO(open_device(), EACCES);
	return PASSED;
}

/* By default failslab spares allocations that may wait, so this turns that off. */
static bool can_inject_faults(void)
{
	int file;

	mount("none", DEBUG_FOLDER, "debugfs", 0, NULL);
	file = open(DEBUG_FOLDER "/failslab/ignore-gfp-wait", O_WRONLY);
	return file >= 0 && write(file, "N", 1) == 1 && !access("/proc/self/fail-nth", W_OK);
}

static int open_only(int unused)
{
	(void)unused;
	return open_device();
}

static int define_one(int device)
{
	return define(device, 1, 0);
}

static int enter_one(int device)
{
	return enter(device, 0);
}

struct attempt {
	int (*call)(int device);
	int failing; /* the n-th allocation */
};

enum { RAN_OUT, SURVIVED, NOT_REACHED, BROKEN };

/* Runs in its own process, so that the call finds nothing allocated before. */
static int attempt(void *argument)
{
	const struct attempt *attempt = argument;
	int file = open("/proc/self/fail-nth", O_RDWR);
	int device = open_device();
	int result, error;
	char left[16] = {0};

	if (define(device, 0, 0) || dprintf(file, "%d", attempt->failing) < 0)
		return BROKEN;
	result = attempt->call(device);
	error = errno;
	if (pread(file, left, sizeof(left) - 1, 0) <= 0 || pwrite(file, "0", 1, 0) != 1)
		return BROKEN;
	if (atoi(left) > 0)
		return result < 0 ? BROKEN : NOT_REACHED;
	if (result >= 0)
		return SURVIVED;
	return error == ENOMEM ? RAN_OUT : BROKEN;
}

/* Returns how many of the call's allocations give ENOMEM if they fail; -1 for another error. */
static int runs_out_of_memory(int (*call)(int device))
{
	struct attempt each = {.call = call};
	int failures = 0;

	for (each.failing = 1; each.failing < 100; each.failing++) {
		int outcome = in_child(attempt, &each);

		if (outcome == NOT_REACHED)
			return failures;
		if (outcome != RAN_OUT && outcome != SURVIVED)
			return -1;
		failures += outcome == RAN_OUT;
	}
	return -1;
}

static enum outcome test_enomem(void)
{
	int opens, defines, enters;

	if (!can_inject_faults())
		return skip("this kernel can't inject faults (CONFIG_FAILSLAB)");
	opens = runs_out_of_memory(open_only);
	defines = runs_out_of_memory(define_one);
	enters = runs_out_of_memory(enter_one);
	note("allocations that fail: %d to open, %d to define, %d to enter", opens, defines,
	     enters);
	/* Open: the name, the file, the client. Define: the policy. Enter: the state, the count. */
	CHECK(opens >= 3 && defines == 1 && enters == 2);
	return PASSED;
}

static int write_limit(const char *text)
{
	int file = open(LIMIT_FILE, O_WRONLY);
	int result = write(file, text, strlen(text)) < 0 ? -errno : 0;

	close(file);
	return result;
}

static enum outcome test_limit(void)
{
	char before[32] = {0};
	int file = open(LIMIT_FILE, O_RDONLY);
	int device = open_device();

	if (!has_quantum())
		return skip("this kernel has no quantum");
	if (file < 0 || access(LIMIT_FILE, W_OK))
		return skip("the limit can't be written here");
	CHECK(read(file, before, sizeof(before) - 1) > 0);
	CHECK(write_limit("99999") == -ERANGE);
	CHECK(write_limit("10000000001") == -ERANGE);
	CHECK(write_limit("much") == -EINVAL);
	CHECK(define(device, 0, 50000000) == 0);
	CHECK(write_limit("20000000") == 0);
	CHECK_ERRNO(define(device, 1, 20000001), ERANGE);
	/* The new limit also applies to a policy that was defined before. */
	CHECK(enter(device, 0) == 0);
	sleep_for(NS_PER_MS);
	CHECK(slice_of(0) == 20000000);
	CHECK(write_limit(before) == 0);
	return PASSED;
}

static enum outcome test_rings_eopnotsupp(void)
{
	struct kadapt_new_ring ring = {.bytes = 4096};
	struct kadapt_binding binding = {0};
	struct kadapt_batch batch = {.size = 1, .count = 1};
	int device = open_device();

	if (has_rings())
		return skip("this kernel has rings");
	CHECK_ERRNO(ioctl(device, KADAPT_RING, &ring), EOPNOTSUPP);
	CHECK_ERRNO(ioctl(device, KADAPT_BIND, &binding), EOPNOTSUPP);
	CHECK_ERRNO(ioctl(device, KADAPT_DRAIN, 0), EOPNOTSUPP);
	CHECK_ERRNO(ioctl(device, KADAPT_UNBIND, 0), EOPNOTSUPP);
	CHECK_ERRNO(ioctl(device, KADAPT_BATCH, &batch), EOPNOTSUPP);
	CHECK(mmap(NULL, 4096, PROT_READ, MAP_SHARED, device, 0) == MAP_FAILED);
	CHECK(errno == ENODEV);
	return PASSED;
}

static enum outcome test_memory_eopnotsupp(void)
{
	struct kadapt_memory memory = {.bytes = 4096, .flags = KADAPT_MEMORY_DENSE};
	struct kadapt_policy policy = {.flags = KADAPT_POLICY_MEMORY_PLAIN};
	int device = open_device();

	if (has_memory())
		return skip("this kernel has ranges of memory");
	CHECK_ERRNO(ioctl(device, KADAPT_MEMORY, &memory), EOPNOTSUPP);
	/* Such a kernel serves all faults as the flag asks. */
	CHECK(ioctl(device, KADAPT_DEFINE, &policy) == 0);
	return PASSED;
}

const struct test_case error_cases[] = {
    {"error_query", "tells version, features and limits", test_query},
    {"error_enotty", "unknown calls", test_enotty},
    {"error_efault", "arguments outside memory", test_efault},
    {"error_short_structure", "EINVAL for less than version 1", test_short_structure},
    {"error_longer_structure", "zeros beyond the known pass, E2BIG else", test_longer_structure},
    {"error_define_einval", "unknown flags, phase too large", test_define_einval},
    {"error_define_eexist", "a phase is defined once", test_define_eexist},
    {"error_define_erange", "quantum outside the limits", test_define_erange},
    {"error_quantum_eopnotsupp", "quantum where there is none", test_quantum_eopnotsupp},
    {"error_enter_enoent", "a phase without policy", test_enter_enoent},
    {"error_enter_ebusy", "one open file at a time", test_enter_ebusy},
    {"error_enter_eopnotsupp", "a quantum for SCHED_FIFO", test_enter_eopnotsupp},
    {"error_leave_einval", "an argument where none belongs", test_leave_einval},
    {"error_counters_errors", "unknown flags, unknown phase", test_counters_errors},
    {"error_eperm", "calls of a forked child", test_eperm},
    {"error_eacces", "open by a stranger", test_eacces},
    {"error_enomem", "every allocation fails once", test_enomem},
    {"error_limit", "the administrator's limit and its own limits", test_limit},
    {"error_rings_eopnotsupp", "EOPNOTSUPP without rings", test_rings_eopnotsupp},
    {"error_memory_eopnotsupp", "EOPNOTSUPP without ranges of memory", test_memory_eopnotsupp},
    {0},
};
