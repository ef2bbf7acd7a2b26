// SPDX-License-Identifier: MIT
/*
 * The descriptor of /dev/kadapt must not disturb the program. So it is opened before
 * main(), moved to a high number, and closed on exec. If the program closes every
 * descriptor, the next call of the device fails, and the library makes no more.
 *
 * No call checks whether the number has become another file's: that would cost a
 * second system call. The kernel gives out the lowest free number, so a program gets
 * this one only by dup2() or after a thousand open files. Other files refuse the
 * device's calls.
 *
 * System calls go through syscall(), because others may interpose the C library.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/counters_file.h"
#include "base/device_file.h"
#include "libkadapt.h"
#include "base/quantum.h"
#include "base/units.h"

/* Values of `kadapt_device` besides descriptors and KADAPT_DEVICE_OFF. */
enum { DEVICE_OPENING = -2, DEVICE_FORKED = -3 };

/* The lowest number to move to. It is below FD_SETSIZE, as programs expect. */
#define WANTED_DESCRIPTOR 1000

#define NANOSECONDS_PER_SECOND INT64_C(1000000000)
/* A handler's jump may leave a call, which then never ends; a disk may hang. */
#define LONGEST_CALL_NS NANOSECONDS_PER_SECOND

_Atomic int kadapt_device = KADAPT_DEVICE_OFF;
static atomic_int is_stopped;
static atomic_uint calls;			       /* that kadapt_calls_begin() began */
static __thread unsigned int own_calls KADAPT_AT_HAND; /* the thread's share of them */
static struct kadapt_query query;

static int has_plan(void)
{
	return &kadapt_plan && kadapt_plan.abi == KADAPT_PLAN_ABI &&
	       (kadapt_plan.policies || kadapt_plan.flags & (KADAPT_PLAN_IO | KADAPT_PLAN_MEMORY));
}

static int call(int descriptor, unsigned long request, unsigned long argument)
{
	int saved_errno = errno;
	int error = syscall(SYS_ioctl, descriptor, request, argument) < 0 ? errno : 0;

	errno = saved_errno;
	return -error;
}

void kadapt_calls_end(void)
{
	atomic_fetch_sub(&calls, 1);
	own_calls--;
}

/* kadapt_device_stop() sets `is_stopped` first, then waits for calls in progress. */
int kadapt_calls_begin(void)
{
	own_calls++;
	atomic_fetch_add(&calls, 1);
	if (!atomic_load(&is_stopped))
		return 1;
	kadapt_calls_end();
	return 0;
}

int kadapt_device_call(int descriptor, unsigned long request, unsigned long argument)
{
	int result;

	if (!kadapt_calls_begin())
		return -EBADF;
	result = call(descriptor, request, argument);
	kadapt_calls_end();
	return result;
}

static int64_t nanoseconds_now(void)
{
	struct timespec now;

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
	return now.tv_sec * NANOSECONDS_PER_SECOND + now.tv_nsec;
}

/* A thread with calls of its own in progress is in a signal handler. */
static void wait_for_calls(void)
{
	int64_t end = nanoseconds_now() + LONGEST_CALL_NS;

	while (atomic_load(&calls) > own_calls && nanoseconds_now() < end)
		syscall(SYS_sched_yield);
}

/* The program may have put a file of its own at the number: close only the device. */
void kadapt_device_stop(void)
{
	struct kadapt_query answer;
	int device;

	atomic_store(&is_stopped, 1);
	wait_for_calls();
	device = atomic_exchange(&kadapt_device, KADAPT_DEVICE_OFF);
	if (device >= 0 && !call(device, KADAPT_QUERY, (unsigned long)&answer))
		syscall(SYS_close, device);
}

/* Move the descriptor to a high number. On failure it is closed. */
static int moved_up(int low)
{
	struct rlimit limit;
	int wanted = WANTED_DESCRIPTOR;
	int high;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur <= WANTED_DESCRIPTOR)
		wanted = (int)limit.rlim_cur - 1;
	high = (int)syscall(SYS_fcntl, low, F_DUPFD_CLOEXEC, wanted);
	syscall(SYS_close, low);
	return high;
}

static uint64_t permitted_quantum(uint64_t wanted)
{
	if (!wanted || !(query.features & KADAPT_FEATURE_QUANTUM))
		return 0;
	if (wanted < query.quantum_min_ns)
		return query.quantum_min_ns;
	return wanted < query.quantum_max_ns ? wanted : query.quantum_max_ns;
}

/* A kernel without rings does not know the field, which must then be 0. */
static uint64_t permitted_delay(uint64_t wanted)
{
	if (!(query.features & KADAPT_FEATURE_RINGS))
		return 0;
	return wanted < KADAPT_DELAY_MAX_NS ? wanted : KADAPT_DELAY_MAX_NS;
}

/* Kernels without ranges may not know the flag, and serve all faults so. */
static uint32_t permitted_flags(uint32_t wanted)
{
	return query.features & KADAPT_FEATURE_MEMORY ? wanted
						      : wanted & ~KADAPT_POLICY_MEMORY_PLAIN;
}

/* The phase of this number takes the units that the user names for the plan's phase. */
static void take_units(int descriptor, uint32_t phase, uint32_t number)
{
	struct kadapt_take take = {.phase = number};
	const char *word = kadapt_units();

	/* A unit that the kernel does not have is left out. */
	while (kadapt_units_next(&word, phase, take.unit))
		kadapt_device_call(descriptor, KADAPT_TAKE, (unsigned long)&take);
}

/* If the kernel refuses a policy, entering its phase is an error. */
static void define(int descriptor, const struct kadapt_plan_policy *planned, unsigned int level)
{
	struct kadapt_policy policy = {
	    .phase = kadapt_number_at(planned->phase, level),
	    .flags = permitted_flags(planned->flags),
	    .quantum_ns = permitted_quantum(kadapt_quantum_at(planned->quantum_ns, level)),
	    .file_delay_ns = permitted_delay(planned->file_delay_ns),
	};

	if (!kadapt_device_call(descriptor, KADAPT_DEFINE, (unsigned long)&policy))
		take_units(descriptor, planned->phase, policy.phase);
}

static void define_policies(int descriptor)
{
	for (uint32_t i = 0; i < kadapt_plan.policies; i++) {
		const struct kadapt_plan_policy *planned = &kadapt_plan.policy[i];

		define(descriptor, planned, KADAPT_LEVEL_PLANNED);
		if (!kadapt_is_quantum_tried(planned))
			continue;
		define(descriptor, planned, KADAPT_LEVEL_PLAIN);
		define(descriptor, planned, KADAPT_LEVEL_LESS);
	}
}

/* Whether this kernel offers anything that the plan uses. */
static int is_useful(void)
{
	const uint64_t io_features = KADAPT_FEATURE_RINGS | KADAPT_FEATURE_BATCHES;

	if (query.version != KADAPT_VERSION)
		return 0;
	if (kadapt_plan.flags & KADAPT_PLAN_IO && query.features & io_features)
		return 1;
	if (kadapt_plan.flags & KADAPT_PLAN_MEMORY && query.features & KADAPT_FEATURE_MEMORY)
		return 1;
	if (query.features & KADAPT_FEATURE_UNITS && *kadapt_units())
		return 1;
	return query.features & KADAPT_FEATURE_QUANTUM || kadapt_counters_file() != NULL;
}

static int open_device(void)
{
	int low = (int)syscall(SYS_openat, AT_FDCWD, "/dev/kadapt", O_RDWR | O_CLOEXEC);
	int descriptor;

	if (low < 0)
		return KADAPT_DEVICE_OFF;
	descriptor = moved_up(low);
	if (descriptor < 0)
		return KADAPT_DEVICE_OFF;
	if (kadapt_device_call(descriptor, KADAPT_QUERY, (unsigned long)&query) || !is_useful()) {
		query = (struct kadapt_query){0};
		syscall(SYS_close, descriptor);
		return KADAPT_DEVICE_OFF;
	}
	define_policies(descriptor);
	return descriptor;
}

const struct kadapt_query *kadapt_device_query(void)
{
	return &query;
}

int kadapt_device_current(void)
{
	int found = atomic_load_explicit(&kadapt_device, memory_order_acquire);

	if (found != DEVICE_FORKED)
		return found;
	if (!atomic_compare_exchange_strong(&kadapt_device, &found, DEVICE_OPENING))
		return found;
	found = open_device();
	atomic_store_explicit(&kadapt_device, found, memory_order_release);
	return found;
}

void kadapt_device_lost(int descriptor, int error)
{
	if (error == EBADF || error == ENOTTY)
		atomic_compare_exchange_strong(&kadapt_device, &descriptor, KADAPT_DEVICE_OFF);
}

/*
 * In a forked child the kernel refuses calls, because the open file is the parent's.
 * Close it only if it answers KADAPT_QUERY: the number may have become another
 * file's.
 */
static void unbind_parents(void)
{
	struct kadapt_query answer;
	int saved_errno = errno;
	int inherited = atomic_load(&kadapt_device);

	atomic_store(&calls, own_calls);
	if (inherited != KADAPT_DEVICE_OFF)
		atomic_store(&kadapt_device, DEVICE_FORKED);
	if (inherited >= 0 &&
	    kadapt_device_call(inherited, KADAPT_QUERY, (unsigned long)&answer) == 0)
		syscall(SYS_close, inherited);
	errno = saved_errno;
}

/*
 * Runs before the program's constructors, so before the program can change its root,
 * its user or its descriptors.
 */
__attribute__((constructor(101))) static void begin(void)
{
	int saved_errno = errno;

	if (has_plan() && pthread_atfork(NULL, NULL, unbind_parents) == 0)
		atomic_store(&kadapt_device, open_device());
	errno = saved_errno;
}
