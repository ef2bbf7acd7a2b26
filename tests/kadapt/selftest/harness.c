// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"

#define CASE_SECONDS 240

void note(const char *format, ...)
{
	va_list arguments;

	printf("# ");
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	printf("\n");
	fflush(stdout);
}

enum outcome failed_check(const char *file, int line, const char *what)
{
	note("%s:%d: not so: %s (%m)", file, line, what);
	return FAILED;
}

enum outcome skip(const char *reason)
{
	note("skipped: %s", reason);
	return SKIPPED;
}

/* A case that dies or hangs has failed. */
static enum outcome run_case(const struct test_case *test)
{
	int status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		alarm(CASE_SECONDS);
		exit(test->run());
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return FAILED;
	if (WIFSIGNALED(status))
		note("killed by signal %d", WTERMSIG(status));
	if (WIFEXITED(status) && WEXITSTATUS(status) == PASSED)
		return PASSED;
	return WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED ? SKIPPED : FAILED;
}

static void report(int number, const struct test_case *test, enum outcome outcome)
{
	printf("%s %d - %s: %s%s\n", outcome == FAILED ? "not ok" : "ok", number, test->name,
	       test->description, outcome == SKIPPED ? " # SKIP" : "");
	fflush(stdout);
}

static bool is_wanted(const struct test_case *test, char *const words[])
{
	if (!*words)
		return true;
	for (; *words; words++)
		if (!strncmp(test->name, *words, strlen(*words)))
			return true;
	return false;
}

int run_cases(const struct test_case *const tables[], char *const words[])
{
	int ran = 0, failures = 0, skips = 0;

	printf("TAP version 13\n");
	for (; *tables; tables++) {
		for (const struct test_case *test = *tables; test->name; test++) {
			enum outcome outcome;

			if (!is_wanted(test, words))
				continue;
			outcome = run_case(test);
			report(++ran, test, outcome);
			failures += outcome == FAILED;
			skips += outcome == SKIPPED;
		}
	}
	printf("1..%d\n# %d failed, %d skipped\n", ran, failures, skips);
	if (failures || !ran)
		return FAILED;
	return skips == ran ? SKIPPED : PASSED;
}
