/* SPDX-License-Identifier: MIT */
/* The stream of phases for others: USDT probes, and a tool that KADAPT_TOOL names. */
#ifndef LIBKADAPT_OBSERVE_H
#define LIBKADAPT_OBSERVE_H

#include <stdint.h>

#define KADAPT_HIDDEN __attribute__((visibility("hidden")))

/* How many ask: a tracer that attaches to the probes increments this, and an opened tool does. */
extern unsigned short kadapt_observers KADAPT_HIDDEN;
/* The tool's functions; NULL: it has none. */
extern void (*kadapt_tell_enter)(uint32_t phase, const char *name) KADAPT_HIDDEN;
extern void (*kadapt_tell_leave)(uint32_t phase, const char *name) KADAPT_HIDDEN;

/* The calling thread goes from one phase to another; numbers of no phase are ignored. */
KADAPT_HIDDEN void kadapt_observe(uint32_t before, uint32_t after);

#endif
