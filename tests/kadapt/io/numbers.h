/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file of records that are their own numbers. */
#ifndef NUMBERS_H
#define NUMBERS_H

#include <stdint.h>
#include <sys/types.h>

#include "harness.h"

#define NUMBERS 20000
#define NUMBER_BYTES ((long)sizeof(uint64_t))

const char *numbers_path(void);

/* Written anew with so many, and open for reading; or -1. */
int numbers_open(int count);

/* Read from `first` on with kadapt_read(), as long as it is they; how many were. */
int numbers_read(int file, int first, int end);

/* After these, some have been read without a call. */
#define BURST 20

/* Did the child end with status 0? */
int child_did(pid_t child);

/* As CHECK, saying which of several it was. */
#define CHECK_FOR(condition, which)                                                                \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			note("number %ld", (long)(which));                                         \
			return failed_check(__FILE__, __LINE__, #condition);                       \
		}                                                                                  \
	} while (0)

/* What the kernel has, past the library. */
long kernels_position(int file);

#endif
