/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process that always wants the processor and notes when it had to wait. A wait is a
 * time longer than half a tick between two readings of the clock.
 */
#ifndef NEIGHBOUR_H
#define NEIGHBOUR_H

#include <stdint.h>
#include <sys/types.h>

struct neighbour;

/* Starts a neighbour. group_file: its control group's cgroup.procs, or NULL. NULL on error. */
struct neighbour *neighbour_start(const char *group_file);
void neighbour_stop(struct neighbour *neighbour);

/* Returns the longest wait. Of each wait only the part between these times counts. */
int64_t neighbour_longest_wait(const struct neighbour *neighbour, int64_t from, int64_t to);

/* Return the median and the second-smallest value. Both sort the values. */
int64_t median(int64_t *values, int count);
int64_t second(int64_t *values, int count);

#endif
