/* SPDX-License-Identifier: MIT */
/*
 * The quantum without the device. Since Linux 6.12 a thread may ask for its own slice by
 * sched_setattr(2), 0.1 to 100 ms. So where no device grants quanta, a thread that enters
 * a phase asks for the phase's quantum, up to 100 ms, and for the kernel's default where
 * the phase has none.
 *
 * The state of a thread is one word, and a call is made only where the slice changes.
 * Nice, policy and flags stay. Threads that are not SCHED_OTHER or SCHED_BATCH are left
 * alone. So are threads whose slice somebody else has set, for the rest of their lives.
 *
 * A process asks for nothing if it was under seccomp(2) when it began, or began with a
 * slice of its own. Neither does a program without the functions of kadapt/lib/filter.
 *
 * What it gets wrong: a thread in a phase that execs another program, itself or in a child
 * of vfork(2), passes its slice on. So do system(3), popen(3) and a raw clone(2).
 */
#ifndef LIBKADAPT_SLICE_H
#define LIBKADAPT_SLICE_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/device_file.h"

/* Phases that can have a slice, as many as the driver knows. */
#define KADAPT_SLICE_PHASES 256

/* The slices of phases at the present level, in nanoseconds; 0: the kernel's default. */
extern const uint32_t *_Atomic kadapt_slices KADAPT_HIDDEN;

/* The slice that the thread asked for last, in nanoseconds, or what is below. */
extern _Thread_local uint32_t kadapt_slice KADAPT_HIDDEN KADAPT_AT_HAND;
#define KADAPT_SLICE_AGAIN 0x40000000U	 /* is added if the next phase must make the call */
#define KADAPT_SLICE_LEFT 0x7fffffffU	 /* somebody else's, to be left alone */
#define KADAPT_SLICE_UNKNOWN 0x80000000U /* this, and all above */

/* Whether threads of this process ask for slices. */
extern _Atomic char kadapt_has_slices KADAPT_HIDDEN;

/* The calling thread asks for this slice. Leaves errno alone. */
KADAPT_HIDDEN void kadapt_slice_change(uint32_t wanted);

/* From now on phases have the slices of this level. */
KADAPT_HIDDEN void kadapt_slices_set_level(unsigned int level);

/*
 * How often the thread has asked for a slice other than the default. The next phase that it
 * enters makes the call in any case, so that the number grows if the phase has such a slice.
 */
KADAPT_HIDDEN uint64_t kadapt_slices_asked(void);

/* The slice of a phase, for comparison with kadapt_slice. */
static inline uint32_t kadapt_slice_of(uint32_t phase)
{
	if (phase >= KADAPT_SLICE_PHASES)
		return 0;
	return atomic_load_explicit(&kadapt_slices, memory_order_relaxed)[phase];
}

#endif
