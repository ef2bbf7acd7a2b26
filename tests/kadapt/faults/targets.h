/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Descriptors that a ring can be bound to, and some that it can't. */
#ifndef TARGETS_H
#define TARGETS_H

/* Four files; a pipe's two ends, a directory, a datagram socket. */
#define TARGETS 8
#define BINDABLE 4

struct targets {
	int descriptors[TARGETS];
};

/* None of them blocks whoever writes. 0, or -1 with errno set. */
int targets_open(struct targets *targets);
/* Empty again, so that more fits. */
void targets_empty(const struct targets *targets);

#endif
