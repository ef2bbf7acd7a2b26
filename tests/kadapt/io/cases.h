/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CASES_H
#define CASES_H

#include <stdint.h>

#include "harness.h"

/* A phase with the longest delay, so that only calls drain the rings. */
#define SLOW_PHASE 0

extern const struct test_case burst_cases[];
extern const struct test_case life_cases[];
extern const struct test_case midst_cases[];
extern const struct test_case process_cases[];
extern const struct test_case jump_cases[];
extern const struct test_case step_cases[];
extern const struct test_case thread_cases[];
extern const struct test_case order_cases[];
extern const struct test_case filter_cases[];
extern const struct test_case flush_cases[];
extern const struct test_case flush_change_cases[];
extern const struct test_case end_cases[];
extern const struct test_case around_cases[];
extern const struct test_case size_cases[];
extern const struct test_case batch_cases[];

/* The number of records of this process that went into rings. */
uint64_t appends(void);

#endif
