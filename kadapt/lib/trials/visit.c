// SPDX-License-Identifier: MIT
#include <stdatomic.h>
#include <time.h>

#include "base/levels.h"
#include "trials/offers.h"
#include "trials/visit.h"

/* Processor time takes a system call, so it is read only where it is needed. */
static double task_ns(const struct kadapt_trial *trial)
{
	return trial->state == KADAPT_TRIAL_WARM_UP ||
		       (trial->in_block && trial->clock == KADAPT_CLOCK_TASK)
		   ? kadapt_clock_read(CLOCK_PROCESS_CPUTIME_ID)
		   : 0;
}

enum kadapt_tried kadapt_tried_policy(const struct kadapt_tried_phase *place)
{
	return place->policies[place->trial.arm[place->trial.tried].policy];
}

void kadapt_visit_begin(struct kadapt_tried_phase *place, double now, uint64_t firings)
{
	const struct kadapt_trial *trial = &place->trial;

	place->is_open = 1;
	place->begun_ns[KADAPT_CLOCK_WALL] = now;
	place->begun_ns[KADAPT_CLOCK_TASK] = task_ns(trial);
	place->firings = firings;
	place->allocated = atomic_load_explicit(&kadapt_sites_allocated, memory_order_relaxed);
	if (!trial->in_block)
		return;
	place->activity = kadapt_activity(kadapt_tried_policy(place));
	if (trial->visit == trial->washout)
		place->begun = kadapt_used_now();
}

static int has_acted(const struct kadapt_tried_phase *place)
{
	return place->trial.in_block && kadapt_trial_is_at_level(&place->trial) &&
	       kadapt_activity(kadapt_tried_policy(place)) != place->activity;
}

/* Returns whether the slot ended. */
static int end_slot(struct kadapt_tried_phase *place)
{
	const struct kadapt_trial *trial = &place->trial;

	if (!trial->in_block || trial->visit + 1 < trial->washout + trial->measured)
		return 0;
	place->used[trial->slot] = kadapt_used_since(&place->begun);
	return 1;
}

/* While no other thread takes the processor, it does not matter how long one may hold it. */
static int is_moot(const struct kadapt_tried_phase *place)
{
	return kadapt_tried_policy(place) == KADAPT_TRIED_QUANTUM && place->trial.slot == 1 &&
	       !place->used[0].involuntary_switches && !place->used[1].involuntary_switches;
}

struct kadapt_visit kadapt_visit_end(struct kadapt_tried_phase *place, double now, uint64_t firings)
{
	uint64_t allocated = atomic_load_explicit(&kadapt_sites_allocated, memory_order_relaxed);

	return (struct kadapt_visit){
	    .time_ns = {now - place->begun_ns[KADAPT_CLOCK_WALL],
			task_ns(&place->trial) - place->begun_ns[KADAPT_CLOCK_TASK]},
	    .work = {place->trial.together, (double)(firings - place->firings),
		     (double)(allocated - place->allocated)},
	    .acted = has_acted(place),
	    .is_moot = end_slot(place) && is_moot(place),
	};
}
