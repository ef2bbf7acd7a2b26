/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs named, described cases, each in its own process, and reports them as TAP.
 * The program's status is 0 if no case failed, 1 if one failed or none ran, 77 if
 * all were skipped.
 */
#ifndef HARNESS_H
#define HARNESS_H

#include <stdbool.h>
#include <stdint.h>

enum outcome { PASSED = 0, FAILED = 1, SKIPPED = 77 };

struct test_case {
	const char *name;
	const char *description;
	enum outcome (*run)(void);
};

/* Each file of cases ends its table with an empty one. */
extern const struct test_case error_cases[];
extern const struct test_case counter_cases[];
extern const struct test_case slice_cases[];
extern const struct test_case latency_cases[];
extern const struct test_case ring_cases[];
extern const struct test_case guard_cases[];
extern const struct test_case ring_end_cases[];
extern const struct test_case ring_error_cases[];
extern const struct test_case life_cases[];
extern const struct test_case batch_cases[];
extern const struct test_case memory_cases[];
extern const struct test_case memory_life_cases[];
extern const struct test_case memory_random_cases[];
extern const struct test_case group_cases[];

/* With this as its only argument the program ends at once. Cases that call exec() use it. */
#define NO_CASE "--no-case"

/* Runs the cases whose name begins with one of the words; without words, all. NULL ends a list. */
int run_cases(const struct test_case *const tables[], char *const words[]);

/* Prints a line of explanation. */
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
enum outcome failed_check(const char *file, int line, const char *what);
enum outcome skip(const char *reason);

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition))                                                                  \
			return failed_check(__FILE__, __LINE__, #condition);                       \
	} while (0)

/* Fails unless the call returned -1 and set errno to this. */
#define CHECK_ERRNO(call, expected) CHECK((call) == -1 && errno == (expected))

#endif
