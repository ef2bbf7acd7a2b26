/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Descriptors to which a ring can be bound, and some to which it cannot. */
#ifndef TARGETS_H
#define TARGETS_H

/* Four files, the two ends of a pipe, a directory, a datagram socket. */
#define TARGETS 8
#define BINDABLE 4

struct targets {
	int descriptors[TARGETS];
};

/* A write to any of them never blocks. Returns 0, or -1 with errno. */
int targets_open(struct targets *targets);
/* Empties all of them. */
void targets_empty(const struct targets *targets);

#endif
