// SPDX-License-Identifier: MIT
#include "trials/beginning.h"

/* A phase comes back if the profiled run visited it so often. */
#define RECURRING 4
/* Visits and time that are watched, after a first visit that touches memory anew. */
#define LEAST_VISITS 3
#define LEAST_NS 20e6
#define MOST_VISITS 40
/* A page fault takes at least so long; system time counts, too, where pages are huge. */
#define FAULT_NS 1000
/* The share of the time that memory must be able to save. */
#define WORTH 0.005

static enum { OVER, WATCHING, NEEDLESS } state;

/* The phase that is watched: the first that was entered twice. */
static uint32_t watched_phase;
static uint32_t visits;
static double begun_ns;
static struct kadapt_used begun, visit_begun;
static uint64_t fewest_faults = UINT64_MAX; /* of a visit: malloc's heap has settled then */

int kadapt_beginning_is_plain(void)
{
	return state != OVER;
}

int kadapt_beginning_is_going(void)
{
	return state == WATCHING;
}

void kadapt_beginning_end(void)
{
	if (state == WATCHING)
		state = OVER;
}

static int has_memory(const struct kadapt_tried_phase *place)
{
	for (unsigned int i = 0; i < place->trial.policies; i++)
		if (place->policies[i] == KADAPT_TRIED_MEMORY)
			return 1;
	return 0;
}

static int is_recurring(const struct kadapt_tried_phase *place)
{
	return place->planned_visits >= RECURRING && has_memory(place);
}

void kadapt_beginning_begin(const struct kadapt_tried_phases *tried)
{
	for (unsigned int i = 1; i <= tried->count; i++)
		if (!kadapt_device_query()->version && is_recurring(&tried->phase[i]))
			state = WATCHING;
}

static int is_needless(double elapsed_ns)
{
	struct kadapt_used used = kadapt_used_since(&begun);
	double cost_ns = (double)fewest_faults * visits * FAULT_NS;

	if (fewest_faults && cost_ns < (double)used.system_ns)
		cost_ns = (double)used.system_ns;
	return cost_ns < WORTH * elapsed_ns;
}

static void end_memory(struct kadapt_tried_phase *place)
{
	int open = 0;

	for (unsigned int i = 0; i < place->trial.arms; i++) {
		struct kadapt_arm *arm = &place->trial.arm[i];

		if (place->policies[arm->policy] == KADAPT_TRIED_MEMORY)
			arm->state = KADAPT_ARM_IDLE;
		open |= arm->state == KADAPT_ARM_OPEN;
	}
	if (!open)
		place->trial.state = KADAPT_TRIAL_NEEDLESS;
}

static void end(struct kadapt_tried_phases *tried, double elapsed_ns)
{
	state = is_needless(elapsed_ns) ? NEEDLESS : OVER;
	for (unsigned int i = 1; state == NEEDLESS && i <= tried->count; i++)
		end_memory(&tried->phase[i]);
}

static void begin_watch(const struct kadapt_tried_phase *place, double now_ns)
{
	watched_phase = place->phase;
	begun_ns = now_ns;
	begun = visit_begun = kadapt_used_now();
}

static void watch_visit(void)
{
	struct kadapt_used used = kadapt_used_since(&visit_begun);

	visits++;
	if (used.faults < fewest_faults)
		fewest_faults = used.faults;
	visit_begun = kadapt_used_now();
}

int kadapt_beginning_enter(struct kadapt_tried_phases *tried,
			   const struct kadapt_tried_phase *place, double now_ns)
{
	if (state != WATCHING || !is_recurring(place))
		return 0;
	if (!begun_ns) {
		/* The first visit ended if the phase is entered again. */
		if (place->is_open)
			begin_watch(place, now_ns);
		return 0;
	}
	if (place->phase != watched_phase)
		return 0;
	watch_visit();
	if (visits < LEAST_VISITS || (now_ns - begun_ns < LEAST_NS && visits < MOST_VISITS))
		return 0;
	end(tried, now_ns - begun_ns);
	return 1;
}
