// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdbool.h>
#include <stdlib.h>

#include "clock.h"
#include "paths.h"
#include "stacks.h"

#define STACK_SHIFT 14 /* x86_64: THREAD_SIZE and IRQ_STACK_SIZE, without KASAN */
#define STACKS 4096    /* a power of two */
#define FRAMES 512
/* x86_64: CPU_ENTRY_AREA_BASE and the 512 GiB of its entry in the top page table */
#define ENTRY_AREA 0xfffffe0000000000ULL
#define ENTRY_AREA_BYTES (1ULL << 39)

struct frame {
	uint64_t slot, began;
	struct function *function;
	struct path *path;
	uint16_t section;
	bool is_named;
	bool has_begun; /* it is the rest of the function below: see note_rest() */
};

struct stack {
	uint64_t number, clock;
	uint64_t left; /* when its task was switched away, or 0 */
	enum root root;
	const struct function *phase; /* that its task is in, or NULL */
	struct path *base;	      /* what calls at the stack's begin continue, or NULL */
	int base_section;
	struct stack *interrupted; /* whose clock goes on with this one's */
	int depth;
	struct frame frames[FRAMES];
};

static struct stack *stacks[STACKS];
static struct stack *current[PROCESSORS];
static int section_now;
static uint64_t section_began_ns;
/* A program has begun a section, and has not been in the kernel since. */
static bool is_marked;
/* Tasks that the command has created, and that have not begun yet. */
static unsigned int births;

/* Where a stack is in the table, or is to be. */
static struct stack **place_of(uint64_t slot)
{
	uint64_t number = slot >> STACK_SHIFT;
	size_t at = (number * 0x9e3779b97f4a7c15ULL) >> 52;

	while (stacks[at] && stacks[at]->number != number)
		at = (at + 1) % STACKS;
	return &stacks[at];
}

/* The stack of interrupts need not begin at a multiple of its size. */
static bool is_below(const struct stack *stack, uint64_t slot)
{
	uint64_t top;

	if (!stack || !stack->depth)
		return false;
	top = stack->frames[0].slot;
	return slot <= top && top - slot < (1 << STACK_SHIFT);
}

static struct stack *stack_of(unsigned int processor, uint64_t slot)
{
	struct stack **place = place_of(slot);

	if (is_below(current[processor], slot))
		return current[processor];
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

/* Where the paths of a stack's task begin. */
static struct path *root_of(const struct stack *stack)
{
	struct path *root = paths_root(section_now, stack ? stack->root : ROOT_OTHERS);

	return stack && stack->phase ? paths_below(root, stack->phase) : root;
}

static struct path *path_of(struct stack *stack)
{
	struct frame *top = top_of(stack);

	if (top && top->section == section_now)
		return top->path;
	if (!top && stack && stack->base && stack->base_section == section_now)
		return stack->base;
	return root_of(stack);
}

void stacks_ran(unsigned int processor, uint64_t instructions)
{
	struct frame *top = top_of(current[processor]);
	struct function *function = top ? top->function : &function_unknown;

	function_tally(function, section_now, processor)->own += instructions;
	path_of(current[processor])->own += instructions;
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
	add(function_tally(&function_stay, section_now, processor), instructions);
}

static void end(struct stack *stack, unsigned int processor)
{
	struct frame *frame = top_of(stack);

	add(function_tally(frame->function, frame->section, processor),
	    stack->clock - frame->began);
	stack->depth--;
}

/* Ends the frames that the stack no longer has because it is shorter. */
static void end_below(struct stack *stack, uint64_t slot, unsigned int processor)
{
	while (stack->depth && top_of(stack)->slot <= slot)
		end(stack, processor);
}

/* Until it has a name, a call is a part of the path that called it. */
static void begin(struct stack *stack, uint64_t slot, struct path *above)
{
	if (stack->depth == FRAMES)
		abort();
	stack->frames[stack->depth++] = (struct frame){.slot = slot,
						       .began = stack->clock,
						       .function = &function_unknown,
						       .path = above,
						       .section = section_now};
}

static bool is_interrupted_by(const struct stack *stack, const struct stack *by)
{
	while (by && by != stack)
		by = by->interrupted;
	return by;
}

static bool is_in_function(struct stack *stack)
{
	const struct frame *top = top_of(stack);

	return top && top->is_named;
}

/* A function calls others on the stack of interrupts, one after the other. */
static void note_base(struct stack *stack, struct stack *caller)
{
	stack->base = caller ? path_of(caller) : NULL;
	stack->base_section = section_now;
}

/* An interrupt of a program begins on a stack of the processor, and moves to that of the task. */
static bool is_of_task(uint64_t slot)
{
	return slot - ENTRY_AREA >= ENTRY_AREA_BYTES;
}

/* The section's program is the next that enters the kernel. */
static void note_owner(struct stack *stack, uint64_t slot)
{
	if (!is_marked || !is_of_task(slot))
		return;
	is_marked = false;
	stack->root = ROOT_COMMAND;
}

/* Whether the processor was about to go on with another task. */
static bool is_switching(struct stack *stack)
{
	const struct frame *top = top_of(stack);

	return top && function_switch && top->function == function_switch;
}

/* What the stack's task did not do itself is its waiting. */
static void switch_to(struct stack *from, struct stack *to)
{
	uint64_t now = clock_ns();

	from->left = now;
	if (to->left && to->left >= section_began_ns)
		path_of(to)->waited += now - to->left;
	to->left = 0;
	to->interrupted = NULL;
}

/* The processor is on this stack from now on. */
static void go_on(unsigned int processor, struct stack *stack, bool calls)
{
	struct stack *before = current[processor];

	if (stack != before && is_switching(before))
		switch_to(before, stack);
	else if (!is_interrupted_by(stack, before))
		/* Only interrupts and exceptions call on another stack. */
		stack->interrupted = calls ? before : NULL;
	current[processor] = stack;
}

void stacks_called(unsigned int processor, uint64_t slot)
{
	struct stack *stack = stack_of(processor, slot), *before = current[processor];
	bool continues = stack != before && !is_switching(before) && is_in_function(before);

	go_on(processor, stack, true);
	end_below(stack, slot, processor);
	if (!stack->depth && stack != before)
		note_base(stack, continues ? before : NULL);
	if (!stack->depth && !stack->base)
		note_owner(stack, slot);
	begin(stack, slot, path_of(stack));
}

static void note_meaning(struct stack *stack, const struct function *function)
{
	if (function->meaning == MEANS_FORK && stack->root == ROOT_COMMAND)
		births++;
	if (function->meaning == MEANS_BIRTH) {
		stack->root = births ? ROOT_COMMAND : ROOT_OTHERS;
		births -= births > 0;
		stack->left = 0;
		stack->phase = NULL;
	}
	if (function->meaning == MEANS_KERNEL_TASK && stack->root == ROOT_COMMAND) {
		/* The birth was another task's. */
		stack->root = ROOT_OTHERS;
		births++;
	}
}

static struct path *path_for(struct stack *stack, const struct frame *frame,
			     const struct function *function)
{
	struct path *above = frame->path;

	if (function->meaning == MEANS_INTERRUPT)
		above = paths_root(section_now, ROOT_INTERRUPTS);
	else if (function->meaning == MEANS_BIRTH || function->meaning == MEANS_KERNEL_TASK)
		above = root_of(stack);
	return paths_below(above, function);
}

void stacks_began(unsigned int processor, struct function *function)
{
	struct stack *stack = current[processor];
	struct frame *top = top_of(stack);

	if (!top)
		return;
	note_meaning(stack, function);
	if (top->is_named || top->has_begun) {
		begin(stack, top->slot, top->path);
		top = top_of(stack);
	}
	top->function = function;
	top->path = path_for(stack, top, function);
	top->is_named = true;
	top->path->calls++;
}

/*
 * An instrument calls itself, pushes an address in the function that it instruments, and returns to
 * that. What runs there is no function that begins. If it jumps to one, that one has a frame of its
 * own.
 */
static void note_rest(struct stack *stack, uint64_t slot)
{
	struct frame *top = top_of(stack);

	if (top && top->slot == slot + sizeof(slot) && !top->is_named)
		top->has_begun = true;
}

void stacks_returned(unsigned int processor, uint64_t slot)
{
	struct stack *stack = stack_of(processor, slot);

	go_on(processor, stack, false);
	end_below(stack, slot, processor);
	note_rest(stack, slot);
}

void stacks_enter(int section)
{
	section_now = section;
	section_began_ns = clock_ns();
	is_marked = section > 0;
}

void stacks_phase(unsigned int processor, const struct function *phase)
{
	struct stack *stack = current[processor];

	if (!stack)
		return;
	stack->phase = phase;
	if (phase)
		root_of(stack)->calls++;
}
