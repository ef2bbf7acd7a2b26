/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The same course twice, each time in a process of its own: with the C library's calls, and with
 * the functions that replace them. Both must tell the same, and leave the same in their files.
 */
#ifndef TWICE_H
#define TWICE_H

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "harness.h"

struct calls {
	ssize_t (*write)(int descriptor, const void *bytes, size_t size);
	ssize_t (*writev)(int descriptor, const struct iovec *pieces, int count);
	int (*flush)(FILE *stream);
	int (*flush_unlocked)(FILE *stream);
};

extern const struct calls plain_calls, adapted_calls;

/* The course's files, which do not exist when it begins. */
#define FIRST "/tmp/kadapt-io-first"
#define SECOND "/tmp/kadapt-io-second"

typedef enum outcome (*course_function)(const struct calls *calls);

/* At least this many records of the adapted course must go into rings. */
enum outcome twice(course_function course, uint64_t least_appends);

/* Called by the course or its children. */
void tell(const char *what, long value);

/* Creates a file of the course for writing. Returns a descriptor, or -1. */
int open_first(int more_flags);
int open_second(int more_flags);

/* Records "TAG 0000123\n". A file of them shows their numbers. */
#define NUMBERED_BYTES 10
void numbered(char record[NUMBERED_BYTES + 1], char tag, int number);
int write_numbered(const struct calls *calls, int file, char tag, int number);

/* Runs both courses without a comparison: each judges its own files. */
enum outcome with_both(course_function course);

#endif
