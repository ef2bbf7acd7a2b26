/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a ring can be bound to, with an eye on the other side that the library can't see. */
#ifndef SINK_H
#define SINK_H

#include <stddef.h>
#include <stdint.h>

enum sink_kind { SINK_FILE, SINK_PIPE, SINK_UNIX, SINK_TCP, SINK_KINDS };

struct sink {
	enum sink_kind kind;
	int writer;
	int reader; /* -1: a file */
	char path[64];
	char text[16]; /* what of the open sink's content a call may read into */
};

extern const char *const sink_names[SINK_KINDS];

/* 0, or -1 and errno. */
int sink_open(struct sink *sink, enum sink_kind kind);
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
