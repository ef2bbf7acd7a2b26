// SPDX-License-Identifier: MIT
/*
 * Phase calls of an adapted program.
 *
 * The descriptor must not disturb the program: it is opened before main() runs,
 * moved to a high number, so that the program's own keep theirs, and closed on
 * exec. A program that closes every descriptor closes ours, too: the first call
 * after that finds it gone and there are no more. Nobody checks at every call
 * whether the number has become someone else's, which would cost a second
 * system call: numbers are given out from the lowest, so a program gets this
 * one only by dup2() or after a thousand open files, and KADAPT_ENTER is no
 * call of anything else.
 *
 * State is one word per process and one per thread, without locks, because a
 * signal handler may be adapted code.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "kadapt.h"
#include "libkadapt.h"
#include "report.h"

/* Values of `device` that are not descriptors. */
enum { DEVICE_OFF = -1, DEVICE_OPENING = -2, DEVICE_FORKED = -3 };

#define NO_PHASE UINT32_MAX
#define UNSURE (UINT32_MAX - 1)

/* Descriptors from here on; below FD_SETSIZE for the sake of nobody's fd_set. */
#define WANTED_DESCRIPTOR 1000

static _Atomic int device = DEVICE_OFF;

/* Initial-exec, because the other models may allocate at the first use. */
static _Thread_local uint32_t current_phase __attribute__((tls_model("initial-exec"))) = NO_PHASE;

static int has_plan(void)
{
	return &kadapt_plan && kadapt_plan.abi == KADAPT_PLAN_ABI && kadapt_plan.policies;
}

/* Move the descriptor out of the program's way; it is closed where that fails. */
static int moved_up(int low)
{
	struct rlimit limit;
	int wanted = WANTED_DESCRIPTOR;
	int high;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur <= WANTED_DESCRIPTOR)
		wanted = (int)limit.rlim_cur - 1;
	high = fcntl(low, F_DUPFD_CLOEXEC, wanted);
	close(low);
	return high;
}

static uint64_t permitted_quantum(const struct kadapt_query *query, uint64_t wanted)
{
	if (!wanted || !(query->features & KADAPT_FEATURE_QUANTUM))
		return 0;
	if (wanted < query->quantum_min_ns)
		return query->quantum_min_ns;
	return wanted < query->quantum_max_ns ? wanted : query->quantum_max_ns;
}

/* A policy that is refused leaves its phase undefined: entering it is an error. */
static void define_policies(int descriptor, const struct kadapt_query *query)
{
	for (uint32_t i = 0; i < kadapt_plan.policies; i++) {
		const struct kadapt_plan_policy *planned = &kadapt_plan.policy[i];
		struct kadapt_policy policy = {
		    .phase = planned->phase,
		    .flags = planned->flags,
		    .quantum_ns = permitted_quantum(query, planned->quantum_ns),
		};

		ioctl(descriptor, KADAPT_DEFINE, &policy);
	}
}

/* Whether phases do anything here. */
static int is_useful(const struct kadapt_query *query)
{
	if (query->version != KADAPT_VERSION)
		return 0;
	return (query->features & KADAPT_FEATURE_QUANTUM) || kadapt_report_wanted();
}

static int open_device(void)
{
	struct kadapt_query query = {0};
	int low = open("/dev/kadapt", O_RDWR | O_CLOEXEC);
	int descriptor;

	if (low < 0)
		return DEVICE_OFF;
	descriptor = moved_up(low);
	if (descriptor < 0)
		return DEVICE_OFF;
	if (ioctl(descriptor, KADAPT_QUERY, &query) || !is_useful(&query)) {
		close(descriptor);
		return DEVICE_OFF;
	}
	define_policies(descriptor, &query);
	return descriptor;
}

/* The descriptor, or a negative value; a forked child opens its own here. */
static int current_device(void)
{
	int found = atomic_load_explicit(&device, memory_order_acquire);

	if (found != DEVICE_FORKED)
		return found;
	if (!atomic_compare_exchange_strong(&device, &found, DEVICE_OPENING))
		return found;
	found = open_device();
	atomic_store_explicit(&device, found, memory_order_release);
	return found;
}

/* Gone or not ours any more: no calls from here on. */
static void give_up_if_lost(int descriptor, int error)
{
	if (error == EBADF || error == ENOTTY)
		atomic_compare_exchange_strong(&device, &descriptor, DEVICE_OFF);
}

/*
 * The call, and what the thread's phase is after it. A signal handler that
 * enters phases in between leaves it open whose call was the last.
 */
static int call(int descriptor, unsigned long request, unsigned long argument, uint32_t phase)
{
	uint32_t before = current_phase;
	int error;

	current_phase = UNSURE;
	atomic_signal_fence(memory_order_seq_cst);
	error = ioctl(descriptor, request, argument) ? errno : 0;
	atomic_signal_fence(memory_order_seq_cst);
	if (error)
		give_up_if_lost(descriptor, error);
	current_phase = current_phase != UNSURE ? UNSURE : error ? before : phase;
	return -error;
}

static int change_phase(unsigned long request, unsigned long argument, uint32_t phase)
{
	int saved_errno = errno;
	int descriptor = current_device();
	int result = -ENODEV;

	if (descriptor >= 0)
		result = call(descriptor, request, argument, phase);
	errno = saved_errno;
	return result;
}

int kadapt_enter(uint32_t phase)
{
	if (current_phase == phase)
		return 0;
	if (atomic_load_explicit(&device, memory_order_relaxed) == DEVICE_OFF)
		return -ENODEV;
	return change_phase(KADAPT_ENTER, phase, phase);
}

void kadapt_phase_enter(uint32_t phase)
{
	kadapt_enter(phase);
}

int kadapt_leave(void)
{
	if (atomic_load_explicit(&device, memory_order_relaxed) == DEVICE_OFF)
		return -ENODEV;
	return change_phase(KADAPT_LEAVE, 0, NO_PHASE);
}

/*
 * The open file is the parent's; the kernel refuses the child's calls. Whether
 * the number still is that file is asked first: what does not know KADAPT_QUERY
 * is not ours to close.
 */
static void forget_parent(void)
{
	struct kadapt_query query;
	int inherited = atomic_load(&device);
	int saved_errno = errno;

	current_phase = NO_PHASE;
	if (inherited != DEVICE_OFF)
		atomic_store(&device, DEVICE_FORKED);
	if (inherited >= 0 && ioctl(inherited, KADAPT_QUERY, &query) == 0)
		close(inherited);
	errno = saved_errno;
}

/*
 * Before the program's own constructors, and before it could change its root,
 * its user or its descriptors.
 */
__attribute__((constructor(101))) static void begin(void)
{
	int saved_errno = errno;

	if (has_plan() && pthread_atfork(NULL, NULL, forget_parent) == 0)
		atomic_store(&device, open_device());
	errno = saved_errno;
}

__attribute__((destructor)) static void end(void)
{
	int saved_errno = errno;
	int descriptor = atomic_load(&device);

	if (descriptor >= 0 && kadapt_report_wanted()) {
		kadapt_leave();
		kadapt_report_write(descriptor);
	}
	errno = saved_errno;
}
