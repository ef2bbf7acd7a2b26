// SPDX-License-Identifier: MIT
/*
 * Phase calls of an adapted program. The state is one word per process and one per
 * thread. There are no locks, because signal handlers may be adapted code.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/device_file.h"
#include "base/optional.h"
#include "libkadapt.h"
#include "observe/observe.h"
#include "slice/slice.h"
#include "trials/process.h"

#define NO_PHASE UINT32_MAX
#define UNSURE (UINT32_MAX - 1)

/*
 * A thread's phase as the device has it, and the one that a marker announced last, whether
 * or not there is a device. Initial-exec, because other models may allocate at the first
 * use; one structure, because each such variable costs a load of its place.
 */
static _Thread_local struct {
	uint32_t current;
	uint32_t announced;
} thread __attribute__((tls_model("initial-exec"))) = {NO_PHASE, NO_PHASE};

/*
 * Make the call and record the thread's phase. If a signal handler enters a phase in
 * between, the order of the two calls is not known, and so the phase is UNSURE.
 */
static int call(int descriptor, unsigned long request, unsigned long argument, uint32_t phase)
{
	uint32_t before = thread.current;
	int error;

	thread.current = UNSURE;
	atomic_signal_fence(memory_order_seq_cst);
	error = -kadapt_device_call(descriptor, request, argument);
	atomic_signal_fence(memory_order_seq_cst);
	if (error)
		kadapt_device_lost(descriptor, error);
	thread.current = thread.current != UNSURE ? UNSURE : error ? before : phase;
	return -error;
}

static int change_phase(unsigned long request, unsigned long argument, uint32_t phase)
{
	int saved_errno = errno;
	int descriptor = kadapt_device_current();
	int result = -ENODEV;

	if (descriptor >= 0)
		result = call(descriptor, request, argument, phase);
	errno = saved_errno;
	return result;
}

static int is_off(void)
{
	return atomic_load_explicit(&kadapt_device, memory_order_relaxed) == KADAPT_DEVICE_OFF;
}

/* A function of its own, so that without the device kadapt_enter() needs no frame. */
static __attribute__((noinline)) int enter_by_device(uint32_t phase)
{
	return change_phase(KADAPT_ENTER, kadapt_trials_number(phase), phase);
}

/* If a signal handler enters a phase meanwhile, which one has the slice is UNSURE. */
static __attribute__((noinline)) void change_slice(uint32_t phase, uint32_t slice)
{
	thread.announced = UNSURE;
	atomic_signal_fence(memory_order_seq_cst);
	kadapt_slice_change(slice);
	atomic_signal_fence(memory_order_seq_cst);
	thread.announced = thread.announced == UNSURE ? phase : UNSURE;
}

static inline void announce(uint32_t phase)
{
	uint32_t slice = kadapt_slice_of(phase);

	thread.announced = phase;
	atomic_signal_fence(memory_order_seq_cst);
	if (slice != kadapt_slice)
		change_slice(phase, slice);
}

/* A function of its own, so that callers need no registers for it. */
static __attribute__((noinline, cold)) void tell_observers(uint32_t phase)
{
	kadapt_observe(thread.announced, phase);
}

static inline int enter(uint32_t phase)
{
	if (__builtin_expect(kadapt_observers, 0))
		tell_observers(phase);
	announce(phase);
	return is_off() ? -ENODEV : enter_by_device(phase);
}

int kadapt_enter(uint32_t phase)
{
	return thread.current == phase ? 0 : enter(phase);
}

/* The device knows the phase, or there is no device that could. */
static int is_inside(uint32_t phase)
{
	return thread.current == phase || (thread.announced == phase && is_off());
}

/* A function of its own, so that a marker inside its phase saves no registers. */
static __attribute__((noinline)) void begin_phase(uint32_t phase)
{
	if (kadapt_has_trials)
		kadapt_trials_enter(phase);
	enter(phase);
	if (kadapt_memory_look)
		kadapt_memory_look();
}

/*
 * A marker that is reached again inside its phase begins no phase, so it costs two
 * comparisons. kadapt_memory_look() reads a clock, a system call on User-Mode Linux.
 */
void kadapt_phase_enter(uint32_t phase)
{
	if (is_inside(phase)) {
		kadapt_trials_fired();
		return;
	}
	begin_phase(phase);
}

int kadapt_leave(void)
{
	if (__builtin_expect(kadapt_observers, 0))
		tell_observers(NO_PHASE);
	announce(NO_PHASE);
	return is_off() ? -ENODEV : change_phase(KADAPT_LEAVE, 0, NO_PHASE);
}

static void begin_child(void)
{
	thread.current = NO_PHASE;
	thread.announced = NO_PHASE;
}

__attribute__((constructor(101))) static void begin(void)
{
	int saved_errno = errno;

	if (&kadapt_plan)
		pthread_atfork(NULL, NULL, begin_child);
	errno = saved_errno;
}
