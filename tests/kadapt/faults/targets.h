/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Descriptors of every kind that a ring can be bound to, and some that it can't. */
#ifndef TARGETS_H
#define TARGETS_H

#include <stdint.h>

/* File, pipe, TCP and UNIX socket, a pipe's reading end, a directory, a datagram socket. */
#define TARGETS 7
#define BINDABLE 4

struct targets {
	int descriptors[TARGETS];
	int other_ends[BINDABLE]; /* -1: none */
};

/* None of them blocks whoever writes. 0, or -1 with errno set. */
int targets_open(struct targets *targets);
/* Empty again, so that more fits. */
void targets_empty(const struct targets *targets);
void targets_close(const struct targets *targets);

#endif
