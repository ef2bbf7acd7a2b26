// SPDX-License-Identifier: GPL-2.0-only
/* The calls about phases: enter, leave, counters. */
#include <linux/errno.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "phase/client.h"
#include "phase/counters.h"
#include "phase/events.h"
#include "phase/mark.h"
#include "phase/quantum.h"
#include "phase/state.h"
#include "phase/task.h"
#include "uapi/kadapt.h"

DEFINE_TRACE(kadapt_phase, TP_PROTO(u32 phase), TP_ARGS(phase));
EXPORT_TRACEPOINT_SYMBOL_GPL(kadapt_phase);

static struct kadapt_count *count_for(struct kadapt_task *state, u32 phase)
{
	struct kadapt_count *count = xa_load(&state->counts, phase);

	if (count)
		return count;
	count = kzalloc(sizeof(*count), GFP_KERNEL_ACCOUNT);
	if (!count)
		return NULL;
	if (xa_err(xa_store(&state->counts, phase, count, GFP_KERNEL))) {
		kfree(count);
		return NULL;
	}
	return count;
}

/* Tell those who watch: the current task is in another phase, or in none. */
static void announce(u32 phase)
{
	trace_kadapt_phase(phase);
	kadapt_mark_phase(phase);
}

static int begin_phase(struct kadapt_task *state, u32 number,
		       const struct kadapt_phase *phase)
{
	struct kadapt_count *count = count_for(state, number);
	u64 now_ns;
	int error;

	if (!count)
		return -ENOMEM;
	error = kadapt_quantum_set(&state->quantum, phase->quantum_ns);
	if (error)
		return error;
	now_ns = ktime_get_mono_fast_ns();
	kadapt_state_end_phase(state, now_ns);
	state->phase = number;
	state->count = count;
	kadapt_choice_set(&state->choice, READ_ONCE(phase->units[0]));
	kadapt_start_at(&state->start, now_ns);
	announce(number);
	return 0;
}

int kadapt_task_enter(struct kadapt_client *client, unsigned long number)
{
	const struct kadapt_phase *phase = kadapt_client_phase(client, number);
	struct kadapt_task *state;

	if (!phase)
		return -ENOENT;
	state = kadapt_state_for(client);
	if (IS_ERR(state))
		return PTR_ERR(state);
	if (state->phase == number)
		return 0;
	return begin_phase(state, number, phase);
}

int kadapt_task_leave(struct kadapt_client *client)
{
	struct kadapt_task *state = kadapt_state_own();

	if (!state || state->client != client)
		return 0;
	kadapt_state_leave(state);
	announce(KADAPT_NO_PHASE);
	return 0;
}

bool kadapt_task_is_in(const struct kadapt_client *client,
		       unsigned long number)
{
	const struct kadapt_task *state = kadapt_state_own();

	return state && state->client == client && state->phase == number;
}

/* The phase that the current task is in through this client, or NULL. */
const struct kadapt_phase *
kadapt_task_phase(const struct kadapt_client *client)
{
	const struct kadapt_task *state = kadapt_state_own();

	if (!state || state->client != client || state->phase == KADAPT_NO_PHASE)
		return NULL;
	return kadapt_client_phase(client, state->phase);
}

/* Whether the current task's phase has KADAPT_POLICY_MEMORY_PLAIN. */
bool kadapt_task_memory_is_plain(void)
{
	const struct kadapt_task *state = kadapt_state_own();

	if (!state || state->phase == KADAPT_NO_PHASE)
		return false;
	return kadapt_client_phase(state->client,
				   state->phase)->memory_is_plain;
}

/* Count bytes that became present for the current task beyond its faults. */
void kadapt_task_populated(unsigned long bytes)
{
	struct kadapt_task *state = kadapt_state_own();

	if (state)
		state->start.populated_bytes += bytes;
}

static struct kadapt_count own_count(struct kadapt_task *state, u32 phase)
{
	struct kadapt_count *count = xa_load(&state->counts, phase);

	return count ? *count : (struct kadapt_count){};
}

/* The counters of the process, or else of the current task, up to now. */
static struct kadapt_count count_until_now(struct kadapt_task *state,
					   struct kadapt_phase *phase,
					   const struct kadapt_counters *asked)
{
	struct kadapt_count count = {}, stay;

	if (asked->flags & KADAPT_COUNTERS_PROCESS)
		count = kadapt_total_read(&phase->total);
	else if (state)
		count = own_count(state, asked->phase);
	if (state && state->phase == asked->phase) {
		stay = kadapt_count_since(&state->start, current,
					  ktime_get_mono_fast_ns());
		kadapt_count_add(&count, &stay);
	}
	return count;
}

int kadapt_task_counters(struct kadapt_client *client,
			 struct kadapt_counters *counters)
{
	struct kadapt_phase *phase =
		kadapt_client_phase(client, counters->phase);
	struct kadapt_task *state = kadapt_state_own();
	struct kadapt_count count;

	if (counters->flags & ~KADAPT_COUNTERS__ALL)
		return -EINVAL;
	if (!phase)
		return -ENOENT;
	if (state && state->client != client)
		state = NULL;
	/* Include the last stays of threads that have ended. */
	if (counters->flags & KADAPT_COUNTERS_PROCESS)
		kadapt_states_reap();
	count = count_until_now(state, phase, counters);
	kadapt_count_report(&count, counters);
	return 0;
}
