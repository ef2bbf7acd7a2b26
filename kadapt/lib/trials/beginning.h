/* SPDX-License-Identifier: MIT */
/*
 * The beginning of a run, where no device answers: memory is plain until a phase that
 * comes back has shown what plain visits take.
 *
 * Then long-lived blocks are malloc's, as in the plain program, and later plain visits
 * meet the plain program's heap. In fft, the arena had long-lived blocks that hold up the
 * end of malloc's heap. Without them malloc trimmed its heap in each step, and a trial
 * took the page faults of that for the plain program's.
 *
 * If plain visits have next to no page faults, memory stays plain in this process.
 */
#ifndef LIBKADAPT_TRIALS_BEGINNING_H
#define LIBKADAPT_TRIALS_BEGINNING_H

#include "base/device_file.h"
#include "trials/tried_phase.h"

/* Begins the beginning, if memory is tried in a phase that comes back. */
KADAPT_HIDDEN void kadapt_beginning_begin(const struct kadapt_tried_phases *tried);

/* Whether memory is to be plain now, and whether that is because the beginning goes on. */
KADAPT_HIDDEN int kadapt_beginning_is_plain(void);
KADAPT_HIDDEN int kadapt_beginning_is_going(void);

/* Nothing more is watched in this process: the plan is trusted, unless memory is needless. */
KADAPT_HIDDEN void kadapt_beginning_end(void);

/*
 * A tried phase is entered. Returns whether the beginning ends now. If memory stays
 * plain then, its trials have ended.
 */
KADAPT_HIDDEN int kadapt_beginning_enter(struct kadapt_tried_phases *tried,
					 const struct kadapt_tried_phase *place, double now_ns);

#endif
