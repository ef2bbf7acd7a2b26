/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The same course twice, each time in a process of its own: with the C library's
 * calls and with those in their place. What it tells must be the same, and what it
 * leaves in its files.
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

/* The course's files, which are not there when it begins. */
#define FIRST "/tmp/kadapt-io-first"
#define SECOND "/tmp/kadapt-io-second"

typedef enum outcome (*course_function)(const struct calls *calls);

/* Of the adapted course, at least so many records must have gone into rings. */
enum outcome twice(course_function course, uint64_t least_appends);

/* From the course, or a child of it. */
void tell(const char *what, long value);

/* A file of the course's, anew and for writing; or -1. */
int open_first(int more_flags);
int open_second(int more_flags);

/* Records "TAG 0000123\n", whose number is told from what a file holds. */
#define NUMBERED_BYTES 10
void numbered(char record[NUMBERED_BYTES + 1], char tag, int number);
int write_numbered(const struct calls *calls, int file, char tag, int number);

/* Once: of two courses, some are judged by what they leave and not compared. */
enum outcome with_both(course_function course);

#endif
