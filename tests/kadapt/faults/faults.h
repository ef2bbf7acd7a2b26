/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of the command line, and the tables of cases. */
#ifndef FAULTS_H
#define FAULTS_H

#include <stdint.h>

#include "harness.h"

struct setting {
	const char *directory; /* where files are written */
	uint64_t kills;	       /* of writers */
	uint64_t calls;	       /* of the fuzzer */
	uint64_t rounds;       /* of hostile programs */
	uint64_t seed;
};

extern struct setting setting;

extern const struct test_case kill_cases[];
extern const struct test_case shortage_cases[];
extern const struct test_case descriptor_cases[];
extern const struct test_case hostile_cases[];
extern const struct test_case flip_cases[];
extern const struct test_case fuzz_cases[];
extern const struct test_case memory_fault_cases[];

/* The offset of a ring for mmap is the ring's number times 2 to the power of this. */
#define MAP_SHIFT 24
#define PAGE 4096

struct path {
	char text[4096];
};

/* The path of a file in the directory. */
struct path in_directory(const char *name);

#endif
