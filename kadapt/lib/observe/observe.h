/* SPDX-License-Identifier: MIT */
/* The stream of phases for others: USDT probes, and a tool that KADAPT_TOOL names. */
#ifndef LIBKADAPT_OBSERVE_H
#define LIBKADAPT_OBSERVE_H

#include <stdint.h>

#define KADAPT_HIDDEN __attribute__((visibility("hidden")))

/* Not 0 while a tracer has attached to the probes, which increments it. */
extern volatile unsigned short kadapt_probes_attached KADAPT_HIDDEN;
/* Whether a tool was opened. */
extern int kadapt_has_tool KADAPT_HIDDEN;
/* Its functions; NULL: it has none. */
extern void (*kadapt_tell_enter)(uint32_t phase, const char *name) KADAPT_HIDDEN;
extern void (*kadapt_tell_leave)(uint32_t phase, const char *name) KADAPT_HIDDEN;

/* The calling thread goes from one phase to another; numbers of no phase are ignored. */
KADAPT_HIDDEN void kadapt_observe(uint32_t before, uint32_t after);

static inline int kadapt_is_observed(void)
{
	return kadapt_probes_attached || kadapt_has_tool;
}

#endif
