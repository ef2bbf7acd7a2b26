/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the cases: the program's phases, and what other processes see of its slices. */
#ifndef SLICES_CASES_H
#define SLICES_CASES_H

#include <stdint.h>

#include "device.h"
#include "harness.h"

/* Phases of the plan. The longest quantum is more than the kernel grants, the shortest less. */
enum { LONG, PLAIN, SHORT, SHORTEST, ALSO_LONG, ALSO_PLAIN };
#define LONG_NS (100 * NS_PER_MS)
#define SHORT_NS (5 * NS_PER_MS)
#define SHORTEST_NS (100 * NS_PER_US)

/* The kernel's default, read before any phase. */
extern uint64_t default_ns;

/* The calling thread's slice, as another process reads it. */
uint64_t seen_slice(void);

/* With this argument, the program enters the long phase and prints its slice. */
#define PHASE_AFTER_EXEC "--phase"
/* With this one, it enters phases many times, and hardly ever does the slice change. */
#define CALM_AFTER_EXEC "--calm"
/* The slice after exec of this program with that argument. */
uint64_t slice_after_exec(void);

extern const struct test_case plain_cases[];
extern const struct test_case own_cases[];
extern const struct test_case child_cases[];
extern const struct test_case filter_cases[];

#endif
