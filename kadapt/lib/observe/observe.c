// SPDX-License-Identifier: MIT
/*
 * USDT probes kadapt:phase_enter and kadapt:phase_leave with the phase's number and name
 * (the notes of SystemTap's sys/sdt.h, which bpftrace and perf read), and calls of the
 * tool.
 */
#include <stddef.h>

#include "libkadapt.h"
#include "observe/observe.h"

/* Names of the plan's phases, one after the other; a program of an older plan has none. */
extern const char kadapt_phase_names[] __attribute__((weak));

unsigned short kadapt_observers __attribute__((section(".probes")));

void (*kadapt_tell_enter)(uint32_t phase, const char *name);
void (*kadapt_tell_leave)(uint32_t phase, const char *name);

/* The phase is in %edi and the name in %rsi, where a function's first arguments are. */
#define PROBE(name)                                                                                \
	"990:	nop\n"                                                                               \
	"	.pushsection .note.stapsdt, \"\", \"note\"\n"                                            \
	"	.balign 4\n"                                                                             \
	"	.4byte 992f - 991f, 994f - 993f, 3\n"                                                    \
	"991:	.asciz \"stapsdt\"\n"                                                                \
	"992:	.balign 4\n"                                                                         \
	"993:	.8byte 990b, _.stapsdt.base, kadapt_observers\n"                                     \
	"	.asciz \"kadapt\", \"" name "\", \"4@%%edi 8@%%rsi\"\n"                            \
	"994:	.balign 4\n"                                                                         \
	"	.popsection\n"

/* Tools find out by the place of this section how far the program was moved. */
asm("	.pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n"
    "	.weak _.stapsdt.base\n"
    "	.hidden _.stapsdt.base\n"
    "_.stapsdt.base: .space 1\n"
    "	.size _.stapsdt.base, 1\n"
    "	.popsection\n");

static void enter(uint32_t phase, const char *name)
{
	asm volatile(PROBE("phase_enter") : : "D"(phase), "S"(name) : "memory");
	if (kadapt_tell_enter)
		kadapt_tell_enter(phase, name);
}

static void leave(uint32_t phase, const char *name)
{
	asm volatile(PROBE("phase_leave") : : "D"(phase), "S"(name) : "memory");
	if (kadapt_tell_leave)
		kadapt_tell_leave(phase, name);
}

/* NULL: the plan has no such phase. */
static const char *name_of(uint32_t phase)
{
	const char *name = kadapt_phase_names;

	if (!&kadapt_plan)
		return NULL;
	for (uint32_t i = 0; i < kadapt_plan.policies; i++) {
		if (kadapt_plan.policy[i].phase == phase)
			return name ? name : "";
		while (name && *name++)
			;
	}
	return NULL;
}

void kadapt_observe(uint32_t before, uint32_t after)
{
	const char *name;

	if (before == after)
		return;
	name = name_of(before);
	if (name)
		leave(before, name);
	name = name_of(after);
	if (name)
		enter(after, name);
}
