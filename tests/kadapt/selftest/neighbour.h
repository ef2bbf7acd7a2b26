/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process that wants the processor all the time and notes when it did not get
 * it: every pause between two looks at the clock that is longer than half a tick.
 */
#ifndef NEIGHBOUR_H
#define NEIGHBOUR_H

#include <stdint.h>
#include <sys/types.h>

struct neighbour;

/* Start one, in the control group whose cgroup.procs this is, or NULL. */
struct neighbour *neighbour_start(const char *group_file);
void neighbour_stop(struct neighbour *neighbour);

/* The longest wait, counting only what lies between these times. */
int64_t neighbour_longest_wait(const struct neighbour *neighbour, int64_t from, int64_t to);

/* These sort. */
int64_t median(int64_t *values, int count);
int64_t second(int64_t *values, int count);

#endif
