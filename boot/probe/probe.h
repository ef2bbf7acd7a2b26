/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The checks of a machine: see main.c. */
#ifndef KADENCE_BOOT_PROBE_H
#define KADENCE_BOOT_PROBE_H

#include <stddef.h>

struct question {
	const char *directory; /* for the file behind a guest's memory */
	size_t memory_bytes;
};

struct answer {
	int error;	  /* of the step that failed, or 0 */
	const char *step; /* a static string */
	long value;	  /* the check's count */
};

typedef struct answer (*check_function)(const struct question *question);

/* The answer for a step that has just failed; reads errno. */
struct answer failed(const char *step);
struct answer fine(long value);

/* trace.c */
struct answer check_trace(const struct question *question);
struct answer check_emulate(const struct question *question);
struct answer check_registers(const struct question *question);

/* memory.c */
struct answer check_file(const struct question *question);
struct answer check_code(const struct question *question);
struct answer check_private(const struct question *question);
struct answer check_address(const struct question *question);
struct answer check_mappings(const struct question *question);

/* clock.c */
struct answer check_clock(const struct question *question);

/* process.c */
struct answer check_proc(const struct question *question);
struct answer check_processes(const struct question *question);
struct answer check_timer(const struct question *question);
struct answer check_processors(const struct question *question);

#endif
