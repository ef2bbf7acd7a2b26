// SPDX-License-Identifier: GPL-2.0-only
/*
 * Timed calls in progress, which stubs.S links on the kernel's stack.
 *
 * A task that crashed in a call has left frames behind, which other calls may
 * have overwritten. So a frame counts only if it lies on the task's stack, above
 * the one before, with a record of the block.
 */
#include <linux/sched/task_stack.h>
#include <asm/ptrace.h>
#ifndef CONFIG_UML
#include <asm/segment.h>
#endif

#include "probe/session.h"
#include "probe/stubs.h"

/* A preempted task's registers are not far from the top of its stack. */
#define WORDS_TO_REGISTERS	512

static notrace bool is_on_stack(const struct kadapt_probe_state *state,
				const struct kadapt_probe_frame *frame)
{
	unsigned long stack = (unsigned long)task_stack_page(state->task);
	unsigned long address = (unsigned long)frame;

	return address > stack && IS_ALIGNED(address, sizeof(long)) &&
	       address <= stack + THREAD_SIZE - sizeof(*frame);
}

static notrace bool is_valid(const struct kadapt_probe_state *state,
			     const struct kadapt_probe_frame *frame)
{
	return is_on_stack(state, frame) &&
	       frame->record % sizeof(struct kadapt_probe_record) == 0 &&
	       frame->record < kadapt_probe_records_bytes();
}

static notrace struct kadapt_probe_frame *
first_frame(const struct kadapt_probe_state *state)
{
	struct kadapt_probe_frame *top = READ_ONCE(state->top);

	return top != &state->base && is_valid(state, top) ? top : NULL;
}

static notrace struct kadapt_probe_frame *
next_frame(const struct kadapt_probe_state *state,
	   const struct kadapt_probe_frame *frame)
{
	struct kadapt_probe_frame *next = frame->parent;

	return next > frame && is_valid(state, next) ? next : NULL;
}

static notrace struct kadapt_probe_record *
record_of(const struct kadapt_probe_state *state,
	  const struct kadapt_probe_frame *frame)
{
	return state->records + frame->record;
}

notrace void kadapt_probe_frames_waited(struct kadapt_probe_state *state,
					u64 ticks)
{
	struct kadapt_probe_frame *frame = first_frame(state);

	for (; frame; frame = next_frame(state, frame))
		record_of(state, frame)->waited[state->why] += ticks;
}

/* When a call began that writes an event. */
static notrace u64 away_of(const struct kadapt_probe_frame *frame)
{
	return *(const u64 *)((const void *)frame + CALL_AWAY);
}

notrace void kadapt_probe_frames_end(struct kadapt_probe_state *state, u64 now)
{
	struct kadapt_probe_frame *frame = first_frame(state);
	u64 time = now - state->away;

	for (; frame; frame = next_frame(state, frame)) {
		struct kadapt_probe_record *record = record_of(state, frame);

		record->inclusive += time - frame->begin;
		record->unended++;
		if (kadapt_probe_events_wanted())
			kadapt_probe_event(state, frame->record,
					   frame->begin + away_of(frame), now);
	}
}

/* The address to which a timed call returns. */
static unsigned long *slot_of(struct kadapt_probe_frame *frame)
{
	return (unsigned long *)frame - 1;
}

static bool is_of_timer(struct kadapt_probe_frame *frame)
{
	unsigned long offset = *slot_of(frame) -
			       (unsigned long)kadapt_probe_timers;

	return offset < kadapt_probe_timers_end - kadapt_probe_timers;
}

/* The outermost frame's parent is the base. */
static bool are_all_of_timers(const struct kadapt_probe_state *state)
{
	struct kadapt_probe_frame *frame = first_frame(state), *last = NULL;

	for (; frame; last = frame, frame = next_frame(state, frame))
		if (!is_of_timer(frame))
			return false;
	return last && last->parent == &state->base;
}

bool kadapt_probe_frames_abandon(struct kadapt_probe_state *state, u64 *calls)
{
	const char *stub = kadapt_probe_events_wanted() ?
				   kadapt_probe_abandoned_event_timer :
				   kadapt_probe_abandoned_timer;
	struct kadapt_probe_frame *frame, *parent;

	if (!are_all_of_timers(state))
		return false;
	for (frame = state->top; frame != &state->base; frame = parent) {
		parent = frame->parent;
		*slot_of(frame) = (unsigned long)stub;
		frame->begin = (unsigned long)calls;
		++*calls;
	}
	WRITE_ONCE(state->top, &state->base);
	return true;
}

#ifdef CONFIG_UML

/* In User-Mode Linux nothing preempts the kernel. */
notrace void kadapt_probe_frames_restart(void)
{
}

#else

static notrace const struct kadapt_probe_span *span_around(unsigned long address)
{
	unsigned long offset = address - (unsigned long)kadapt_probe_timers;
	const struct kadapt_probe_span *span = kadapt_probe_spans;

	if (offset >= kadapt_probe_timers_end - kadapt_probe_timers)
		return NULL;
	for (; span < kadapt_probe_spans_end; span++)
		if (offset > span->begin && offset < span->end)
			return span;
	return NULL;
}

/*
 * An interrupt that preempts has pushed the address and the code segment next
 * to each other. The stub's registers are then as they were at the span's
 * begin, except for rax and rdx, which the span sets.
 */
notrace void kadapt_probe_frames_restart(void)
{
	unsigned long *word = (unsigned long *)current_stack_pointer;
	unsigned long *end = task_stack_page(current) + THREAD_SIZE;
	const struct kadapt_probe_span *span;

	end = min(end - 1, word + WORDS_TO_REGISTERS);
	for (; word < end; word++) {
		/* KASAN forbids what lies between the variables of frames. */
		if (READ_ONCE_NOCHECK(word[1]) != __KERNEL_CS)
			continue;
		span = span_around(READ_ONCE_NOCHECK(*word));
		if (span)
			*word = (unsigned long)kadapt_probe_timers +
				span->begin;
	}
}

#endif
