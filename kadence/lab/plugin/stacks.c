// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdbool.h>
#include <stdlib.h>

#include "stacks.h"

#define STACK_SHIFT 14 /* x86_64: THREAD_SIZE and IRQ_STACK_SIZE, without KASAN */
#define STACKS 4096    /* a power of two */
#define FRAMES 512

struct frame {
	uint64_t slot, began;
	struct function *function;
	uint16_t section;
	bool is_named;
};

struct stack {
	uint64_t number, clock;
	struct stack *interrupted; /* whose clock goes on with this one's */
	int depth;
	struct frame frames[FRAMES];
};

static struct stack *stacks[STACKS];
static struct stack *current[PROCESSORS];
static int section_now;

/* Where a stack is in the table, or is to be. */
static struct stack **place_of(uint64_t slot)
{
	uint64_t number = slot >> STACK_SHIFT;
	size_t at = (number * 0x9e3779b97f4a7c15ULL) >> 52;

	while (stacks[at] && stacks[at]->number != number)
		at = (at + 1) % STACKS;
	return &stacks[at];
}

static struct stack *stack_of(uint64_t slot)
{
	struct stack **place = place_of(slot);

	if (!*place) {
		*place = calloc(1, sizeof(**place));
		if (!*place)
			abort();
		(*place)->number = slot >> STACK_SHIFT;
	}
	return *place;
}

static struct frame *top_of(struct stack *stack)
{
	return stack && stack->depth ? &stack->frames[stack->depth - 1] : NULL;
}

void stacks_ran(unsigned int processor, uint64_t instructions)
{
	struct frame *top = top_of(current[processor]);
	struct function *function = top ? top->function : &function_unknown;

	function->tallies[section_now][processor].own += instructions;
	for (struct stack *stack = current[processor]; stack; stack = stack->interrupted)
		stack->clock += instructions;
}

static void add(struct tally *tally, uint64_t took)
{
	tally->calls++;
	tally->inclusive += took;
	if (took > tally->longest)
		tally->longest = took;
}

void stacks_left(unsigned int processor, uint64_t instructions)
{
	add(&function_stay.tallies[section_now][processor], instructions);
}

static void end(struct stack *stack, unsigned int processor)
{
	struct frame *frame = top_of(stack);

	add(&frame->function->tallies[frame->section][processor], stack->clock - frame->began);
	stack->depth--;
}

/* Ends the frames that the stack no longer has because it is shorter. */
static void end_below(struct stack *stack, uint64_t slot, unsigned int processor)
{
	while (stack->depth && top_of(stack)->slot <= slot)
		end(stack, processor);
}

static void begin(struct stack *stack, uint64_t slot, struct function *function, bool is_named)
{
	if (stack->depth == FRAMES)
		abort();
	stack->frames[stack->depth++] = (struct frame){.slot = slot,
						       .began = stack->clock,
						       .function = function,
						       .section = section_now,
						       .is_named = is_named};
}

static bool is_interrupted_by(const struct stack *stack, const struct stack *by)
{
	while (by && by != stack)
		by = by->interrupted;
	return by;
}

/* Whether the processor was about to go on with another task. */
static bool is_switching(struct stack *stack)
{
	const struct frame *top = top_of(stack);

	return top && function_switch && top->function == function_switch;
}

/* The processor is on this stack from now on. */
static void go_on(unsigned int processor, struct stack *stack, bool calls)
{
	struct stack *before = current[processor];

	if (stack != before && is_switching(before))
		stack->interrupted = NULL;
	else if (!is_interrupted_by(stack, before))
		/* Only interrupts and exceptions call on another stack. */
		stack->interrupted = calls ? before : NULL;
	current[processor] = stack;
}

void stacks_called(unsigned int processor, uint64_t slot)
{
	struct stack *stack = stack_of(slot);

	go_on(processor, stack, true);
	end_below(stack, slot, processor);
	begin(stack, slot, &function_unknown, false);
}

void stacks_began(unsigned int processor, struct function *function)
{
	struct stack *stack = current[processor];
	struct frame *top = top_of(stack);

	if (!top)
		return;
	if (top->is_named) {
		begin(stack, top->slot, function, true);
		return;
	}
	top->function = function;
	top->is_named = true;
}

void stacks_returned(unsigned int processor, uint64_t slot)
{
	struct stack *stack = *place_of(slot);

	/* QEMU 7.2 also reports accesses of the instructions before, such as xsaves. */
	if (!stack && !is_switching(current[processor]))
		return;
	stack = stack_of(slot);
	go_on(processor, stack, false);
	end_below(stack, slot, processor);
}

void stacks_enter(int section)
{
	section_now = section;
}
