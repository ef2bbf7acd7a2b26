/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file that is watched without the library's knowledge. */
#ifndef SINK_H
#define SINK_H

struct sink {
	int writer;
	char path[64];
};

/* Returns 0, or -1 with errno. */
int sink_open(struct sink *sink);
void sink_close(struct sink *sink);

/* The bytes that the kernel has written, by raw system calls; or -1. */
long sink_arrived(const struct sink *sink);

/*
 * Writes three records of ten bytes by kadapt_write(). Returns 0 if the last two are in a ring,
 * else -1.
 */
int sink_fill(struct sink *sink);

#define RECORD "0123456789"
#define RECORD_BYTES 10

#endif
