/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An allocation in another file than the plan's sites. */
#ifndef UNTOUCHED_BY_PLAN_H
#define UNTOUCHED_BY_PLAN_H

#include <stddef.h>

void *take_plainly(size_t size);

#endif
