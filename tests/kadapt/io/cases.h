/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CASES_H
#define CASES_H

#include "harness.h"

/* A phase in which rings hold data for as long as may be, so that only calls drain them. */
#define SLOW_PHASE 0

extern const struct test_case settle_cases[];
extern const struct test_case burst_cases[];
extern const struct test_case life_cases[];
extern const struct test_case midst_cases[];
extern const struct test_case stream_cases[];
extern const struct test_case stream_change_cases[];
extern const struct test_case end_cases[];
extern const struct test_case batch_cases[];
extern const struct test_case read_cases[];
extern const struct test_case read_use_cases[];
extern const struct test_case read_midst_cases[];

#endif
