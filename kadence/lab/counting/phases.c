// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>
#include <stdlib.h>

#include "phases.h"

#define STACK_BYTES 16384 /* THREAD_SIZE of x86_64 without KASAN */
#define MOST_STACKS 4096

struct stack {
	uint64_t base;
	unsigned int number;
};

static uint32_t phases[PHASES];
static unsigned int used = 1;
static struct stack stacks[MOST_STACKS], *current = &stacks[0];
static unsigned int stack_count = 1;
static uint32_t bits;

unsigned int phase_now(void)
{
	return current->number;
}

unsigned int phases_used(void)
{
	return used;
}

static unsigned int number_of(uint32_t phase)
{
	for (unsigned int number = 1; number < used; number++)
		if (phases[number] == phase)
			return number;
	if (used == PHASES)
		return PHASES - 1;
	phases[used] = phase;
	return used++;
}

void phase_bit(unsigned int bit)
{
	bits = bits << 1 | bit;
}

void phase_begins(void)
{
	current->number = number_of(bits);
	bits = 0;
}

void phase_ends(void)
{
	current->number = 0;
	bits = 0;
}

static struct stack *stack_at(uint64_t base)
{
	for (unsigned int i = 1; i < stack_count; i++)
		if (stacks[i].base == base)
			return &stacks[i];
	if (stack_count == MOST_STACKS)
		return &stacks[0];
	stacks[stack_count].base = base;
	return &stacks[stack_count++];
}

void phase_stack(uint64_t slot)
{
	const uint64_t base = slot & ~(uint64_t)(STACK_BYTES - 1);

	if (current->base != base)
		current = stack_at(base);
}

void phases_print(FILE *file)
{
	for (unsigned int number = 1; number < used; number++)
		fprintf(file, "phase %u %" PRIu32 "\n", number, phases[number]);
}
