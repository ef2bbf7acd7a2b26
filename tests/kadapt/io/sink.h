/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file, with an eye on it that the library can't see. */
#ifndef SINK_H
#define SINK_H

struct sink {
	int writer;
	char path[64];
};

/* 0, or -1 and errno. */
int sink_open(struct sink *sink);
void sink_close(struct sink *sink);

/* Bytes that have arrived, or -1, asked of the kernel by raw system calls. */
long sink_arrived(const struct sink *sink);

/*
 * Three records of ten bytes through kadapt_write(), the last two of which are in
 * a ring; 0, or -1: they are not.
 */
int sink_fill(struct sink *sink);

#define RECORD "0123456789"
#define RECORD_BYTES 10

#endif
