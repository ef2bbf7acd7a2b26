// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <xmmintrin.h>

#include "kadapt.h"
#include "libkadapt.h"
#include "base/levels.h"
#include "base/quantum.h"
#include "ranks/shared.h"
#include "trials/clocks.h"
#include "trials/offers.h"
#include "trials/process.h"
#include "trials/record.h"
#include "trials/roles.h"
#include "trials/settings.h"
#include "trials/tried_phase.h"
#include "trials/visit.h"

/* Wrong claims of a process, all arms and looks together. */
#define WRONG_CLAIMS 0.05
/* What is measured must be so much longer than reading the clock. */
#define CLOCKS_OF_A_VISIT 400
/* Phases that a thread enters before it leads in the main thread's place. */
#define PATIENCE 32
#define LEVEL_MASK 0xf
#define QUANTUM_MASK LEVEL_MASK
/* The default control and status of floating point: no traps, to the nearest. */
#define DEFAULT_MXCSR 0x1f80

int kadapt_has_trials;

static struct kadapt_tried_phases tried;
static struct kadapt_budget budget;
static double begun_ns, clock_ns;
static uint64_t boundaries, firings;
static _Atomic char is_led;
static _Thread_local char leads __attribute__((tls_model("initial-exec")));
static _Thread_local uint32_t own_boundaries __attribute__((tls_model("initial-exec")));
static volatile char is_busy, is_main_led;
static uintptr_t busy_frame; /* of the call that is or was busy */

/* ---- levels ----------------------------------------------------------------------- */

/*
 * A level holds until the next visit begins. So it also covers calls that prepare the
 * phase before its marker is reached. Only a quantum is the phase's alone.
 */
static void apply(uint32_t mask, uint32_t wanted)
{
	uint32_t now = atomic_load_explicit(&kadapt_levels, memory_order_relaxed);
	uint32_t levels = (now & ~mask) | wanted;

	if (levels != now)
		kadapt_levels_set(levels);
}

static void find_levels(struct kadapt_tried_phase *place)
{
	uint8_t wanted[KADAPT_TRIAL_POLICIES];

	kadapt_trial_levels(&place->trial, &budget, wanted);
	place->mask = QUANTUM_MASK;
	place->levels = KADAPT_LEVEL_PLANNED;
	for (unsigned int i = 0; i < place->trial.policies; i++) {
		place->mask |= kadapt_levels_with(0, place->policies[i], LEVEL_MASK);
		place->levels = kadapt_levels_with(place->levels, place->policies[i], wanted[i]);
	}
}

uint32_t kadapt_trials_number(uint32_t phase)
{
	unsigned int level = kadapt_level(KADAPT_TRIED_QUANTUM);

	if (level == KADAPT_LEVEL_PLANNED || phase >= KADAPT_QUANTUM_PHASES)
		return phase;
	return kadapt_number_at(phase, level);
}

/* ---- visits ----------------------------------------------------------------------- */

static void record_block(struct kadapt_tried_phase *place, uint8_t state_before)
{
	const struct kadapt_trial *trial = &place->trial;
	const struct kadapt_arm *arm = &trial->arm[trial->tried];
	int level = trial->is_level_first ? 0 : 1; /* the slot at the level */
	const struct kadapt_block_use use = {
	    .sum = {trial->sum[!level], trial->sum[level]},
	    .used = {place->used[!level], place->used[level]},
	};

	kadapt_record_block(place->phase, kadapt_tried_policy(place), trial, &use);
	if (arm->state != state_before)
		kadapt_record_decision(place->phase, kadapt_tried_policy(place), trial);
}

static void end_visit(struct kadapt_tried_phase *place, double now)
{
	struct kadapt_trial *trial = &place->trial;
	uint8_t state = trial->state, arm_state = trial->arm[trial->tried].state;
	const struct kadapt_visit visit = kadapt_visit_end(place, now, firings);

	if (kadapt_trial_visited(trial, &budget, &visit))
		record_block(place, arm_state);
	if (trial->state == state || state != KADAPT_TRIAL_WARM_UP)
		return;
	if (place->role == KADAPT_ROLE_SHARES)
		kadapt_role_warmed_up(place);
	kadapt_record_phase(place->phase, trial);
}

/* A process that shares a trial may still get a leader. */
static int is_over(const struct kadapt_tried_phase *place)
{
	if (place->role == KADAPT_ROLE_FOLLOWS)
		return place->schedule.is_ended;
	return place->trial.state >= KADAPT_TRIAL_ENDED && place->role != KADAPT_ROLE_SHARES;
}

/* Returns whether the visit is not this process's to decide. */
static int follow(struct kadapt_tried_phase *place)
{
	uint8_t state = place->trial.state;

	if (kadapt_role_is_led(place)) {
		if (state == KADAPT_TRIAL_WARM_UP)
			kadapt_record_phase(place->phase, &place->trial);
		place->levels = kadapt_role_levels(place);
	} else if (state < KADAPT_TRIAL_ENDED) {
		return 0;
	}
	apply(place->mask, place->levels);
	return 1;
}

/* What the trials themselves take counts as spent; most of it is the end of a slot. */
static void measure_and_decide(struct kadapt_tried_phase *place)
{
	double now = kadapt_now_ns();
	int was_in_block = place->trial.in_block;

	budget.elapsed_ns = now - begun_ns;
	budget.spent_ns += clock_ns;
	if (place->is_open)
		end_visit(place, now);
	if (place->role == KADAPT_ROLE_FOLLOWS) {
		follow(place);
		return;
	}
	find_levels(place);
	if (place->role == KADAPT_ROLE_LEADS)
		kadapt_role_announce(place);
	apply(place->mask, place->levels);
	if (was_in_block && (!place->trial.in_block || place->trial.visit == 0)) {
		double later = kadapt_now_ns();

		budget.spent_ns += later - now;
		now = later;
	}
	kadapt_visit_begin(place, now, firings);
	place->left = place->trial.together - 1U;
}

static void enter_tried(struct kadapt_tried_phase *place)
{
	if (place->role == KADAPT_ROLE_ALONE || !follow(place))
		measure_and_decide(place);
	place->visit++;
	place->is_over = is_over(place);
}

static void end_trial(struct kadapt_tried_phase *place)
{
	place->is_open = 0;
	place->trial.in_block = 0;
	if (place->role == KADAPT_ROLE_FOLLOWS) {
		place->levels = place->schedule.standing;
	} else {
		place->trial.state = KADAPT_TRIAL_ENDED;
		find_levels(place);
	}
	if (place->role == KADAPT_ROLE_LEADS)
		kadapt_role_announce(place);
	place->role = KADAPT_ROLE_ALONE;
	place->is_over = 1;
}

/* What was decided holds. */
static void end_trials(void)
{
	for (unsigned int i = 1; i <= tried.count; i++)
		end_trial(&tried.phase[i]);
	is_busy = 0;
}

/*
 * A handler that jumps may leave try_phase(). A later call then has its frame above the
 * frame that was left, or at the same place. A call in a handler has its frame below the
 * interrupted one. That holds for the main thread, because its stack is above all memory
 * that another stack could be in.
 */
static int is_left(uintptr_t frame)
{
	return is_main_led && frame >= busy_frame;
}

static int is_main(void)
{
	return syscall(SYS_gettid) == syscall(SYS_getpid);
}

/*
 * The main thread leads. Another does if it has entered many phases, and the main thread
 * none: then workers do the program's work.
 */
static __attribute__((noinline)) int take_lead(void)
{
	if (atomic_load_explicit(&is_led, memory_order_relaxed) ||
	    (!is_main() && ++own_boundaries <= PATIENCE))
		return 0;
	leads = !atomic_exchange(&is_led, 1);
	is_main_led |= leads && is_main();
	return leads;
}

/* Returns whether the caller may go on: no call of this thread is in progress. */
static __attribute__((noinline)) int is_recovered(uintptr_t frame)
{
	if (!is_left(frame))
		return 0;
	end_trials();
	return 1;
}

/*
 * Computing must neither trap nor leave flags that the program could find: the program
 * may have set other rules of floating point.
 */
static void enter_by_own_rules(struct kadapt_tried_phase *place)
{
	int saved_errno = errno;
	unsigned int rules = _mm_getcsr();

	_mm_setcsr(DEFAULT_MXCSR);
	enter_tried(place);
	_mm_setcsr(rules);
	errno = saved_errno;
}

static __attribute__((noinline)) void try_phase(struct kadapt_tried_phase *place)
{
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);

	if (is_busy && !is_recovered(frame))
		return;
	busy_frame = frame;
	is_busy = 1;
	atomic_signal_fence(memory_order_seq_cst);
	enter_by_own_rules(place);
	atomic_signal_fence(memory_order_seq_cst);
	is_busy = 0;
}

/* Visits that are taken together have one level, and the clock is read once. */
static inline int is_among_others(struct kadapt_tried_phase *place)
{
	uint32_t left = place->left;

	if (left)
		place->left = left - 1;
	return !!left;
}

static inline void lead(uint32_t phase)
{
	struct kadapt_tried_phase *place = &tried.phase[tried.index_of[phase % KADAPT_PHASES]];

	boundaries++;
	if (place->is_over || is_among_others(place))
		apply(place->mask, place->levels);
	else
		try_phase(place);
}

/* A function of its own, so that the leading thread needs no frame. */
static __attribute__((noinline)) void lead_if_allowed(uint32_t phase)
{
	if (take_lead())
		lead(phase);
}

/* Where nothing is tried, entering a phase reads no clock and takes few instructions. */
void kadapt_trials_enter(uint32_t phase)
{
	if (leads)
		lead(phase);
	else
		lead_if_allowed(phase);
}

void kadapt_trials_fired(void)
{
	firings += (uint64_t)leads;
}

/* ---- begin and end ---------------------------------------------------------------- */

/* Ranks that wait for one another are seen in wall time. */
static void begin_sharing(const struct kadapt_job *job)
{
	int is_shared = kadapt_shared_begin(job, kadapt_plan.id);

	for (unsigned int i = 1; i <= tried.count; i++) {
		tried.phase[i].trial.needs_wall |= is_shared || job->nodes > 1;
		if (is_shared)
			kadapt_role_begin(&tried.phase[i]);
	}
}

static void begin_trials(uint64_t seed)
{
	unsigned int arms = 0;

	for (unsigned int i = 1; i <= tried.count; i++)
		arms += tried.phase[i].trial.arms;
	clock_ns = kadapt_price_of_clock();
	tried.phase[0].trial.state = KADAPT_TRIAL_ENDED;
	tried.phase[0].is_over = 1;
	find_levels(&tried.phase[0]);
	for (unsigned int i = 1; i <= tried.count; i++) {
		struct kadapt_trial *trial = &tried.phase[i].trial;

		trial->error = WRONG_CLAIMS / arms;
		trial->least_ns = CLOCKS_OF_A_VISIT * clock_ns;
		trial->random = seed ^ (uint64_t)tried.phase[i].phase << 48;
		kadapt_trial_begin(trial);
		find_levels(&tried.phase[i]);
	}
	begun_ns = kadapt_now_ns();
}

/* A child tries nothing. What its parent had decided holds. */
static void begin_child(void)
{
	for (unsigned int i = 1; i <= tried.count; i++)
		if (tried.phase[i].role == KADAPT_ROLE_LEADS)
			tried.phase[i].role = KADAPT_ROLE_ALONE;
	end_trials();
	kadapt_shared_leave();
	atomic_store(&is_led, 0);
	leads = 0;
	kadapt_record_stop();
}

/* Runs after the device was opened and rings and ranges have begun. */
__attribute__((constructor(103))) static void begin(void)
{
	int saved_errno = errno;
	struct kadapt_settings settings;

	if (!&kadapt_plan || kadapt_plan.abi != KADAPT_PLAN_ABI ||
	    !(kadapt_plan.flags & KADAPT_PLAN_TRIALS) || !kadapt_settings_read(&settings))
		return;
	kadapt_tried_find(&tried);
	if (tried.count && pthread_atfork(NULL, NULL, begin_child) == 0) {
		budget.share = settings.share;
		kadapt_tried_learned(&tried);
		begin_sharing(&settings.job);
		begin_trials(settings.seed);
		kadapt_record_begin(settings.seed, settings.share);
		kadapt_has_trials = 1;
	}
	errno = saved_errno;
}

__attribute__((destructor)) static void end(void)
{
	if (!kadapt_has_trials)
		return;
	kadapt_record_end(&budget, boundaries);
	kadapt_shared_end();
}
