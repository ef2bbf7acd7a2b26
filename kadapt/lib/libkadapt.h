/* SPDX-License-Identifier: MIT */
/*
 * libkadapt: phase calls for adapted programs, linked into them statically.
 *
 * The compiler plugin inserts kadapt_phase_enter() and emits kadapt_plan; a
 * program may also call and define them itself. Without /dev/kadapt, without
 * permission or with an interface of another version every call returns at
 * once, for ever: the program then runs as if nothing had been done to it.
 *
 * All functions may be called from any thread and from signal handlers, leave
 * errno alone and print nothing. A forked child starts in no phase and opens
 * the device anew when it first enters one.
 *
 * With KADAPT_COUNTERS=FILE in the environment a process that entered a phase
 * appends, when it ends by exit(), one line of JSON to FILE:
 *
 *	{"pid": 7, "phases": [{"phase": 0, "entries": 3, "time_ns": 12,
 *	 "voluntary_switches": 0, "involuntary_switches": 1}]}
 */
#ifndef LIBKADAPT_H
#define LIBKADAPT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KADAPT_PLAN_ABI 1

/* What phase shall do what; laid out as the compiler plugin emits it. */
struct kadapt_plan_policy {
	uint32_t phase;
	uint32_t flags;	     /* as struct kadapt_policy's */
	uint64_t quantum_ns; /* 0: the kernel's default; cut to what the kernel allows */
};

struct kadapt_plan {
	uint32_t abi;	   /* KADAPT_PLAN_ABI; another is not used */
	uint32_t policies; /* length of policy[] */
	struct kadapt_plan_policy policy[];
};

/* The program's plan; a program without one enters no phases. */
extern const struct kadapt_plan kadapt_plan __attribute__((weak));

/* What inserted code calls: the calling thread is now in this phase. */
void kadapt_phase_enter(uint32_t phase);

/* The same, but says what became of it: 0 or -errno; -ENODEV without device. */
int kadapt_enter(uint32_t phase);

/* The calling thread is in no phase; 0 or -errno. */
int kadapt_leave(void);

#ifdef __cplusplus
}
#endif

#endif
