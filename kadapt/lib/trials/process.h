/* SPDX-License-Identifier: MIT */
/*
 * The trials of this process. One thread leads, as a rule the main thread. Its visits
 * are measured, and the levels that it sets hold for all threads. A visit lasts
 * from the entry of a phase to the next entry of the same phase, so that a level also
 * answers for what it costs the phases in between.
 *
 * Signal handlers may be adapted code. If a handler enters a phase while the trials are
 * at work, nothing is measured.
 */
#ifndef LIBKADAPT_TRIALS_PROCESS_H
#define LIBKADAPT_TRIALS_PROCESS_H

#include <stdint.h>

#include "base/device_file.h"

/* Whether trials are going on in this process. */
extern int kadapt_has_trials KADAPT_HIDDEN;

/* The calling thread enters the phase. Sets the levels of its policies. */
KADAPT_HIDDEN void kadapt_trials_enter(uint32_t phase);

/* The calling thread's marker fired again within its phase. */
KADAPT_HIDDEN void kadapt_trials_fired(void);

/* The number by which the driver knows the phase at the quantum's present level. */
KADAPT_HIDDEN uint32_t kadapt_trials_number(uint32_t phase);

#endif
