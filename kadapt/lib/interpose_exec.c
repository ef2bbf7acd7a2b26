// SPDX-License-Identifier: MIT
/*
 * Interposed: calls that have another program go on with the open files. What
 * rings hold is written by the kernel then, so only positions are told. In the
 * child of vfork() they were told before.
 */
#define _GNU_SOURCE
#include <alloca.h>
#include <stdarg.h>
#include <unistd.h>

#include "interpose.h"

#define LOOK_AWAY kadapt_look_away_all()

INTERPOSE(LOOK_AWAY, int, execve,
	  (const char *path, char *const arguments[], char *const environment[]),
	  (path, arguments, environment))
INTERPOSE(LOOK_AWAY, int, execveat,
	  (int folder, const char *path, char *const arguments[], char *const environment[],
	   int flags),
	  (folder, path, arguments, environment, flags))
INTERPOSE(LOOK_AWAY, int, fexecve, (int d, char *const arguments[], char *const environment[]),
	  (d, arguments, environment))
INTERPOSE(LOOK_AWAY, int, execv, (const char *path, char *const arguments[]), (path, arguments))
INTERPOSE(LOOK_AWAY, int, execvp, (const char *file, char *const arguments[]), (file, arguments))
INTERPOSE(LOOK_AWAY, int, execvpe,
	  (const char *file, char *const arguments[], char *const environment[]),
	  (file, arguments, environment))

/* Up to the NULL, which is counted. */
static size_t count_arguments(va_list list)
{
	size_t count = 1;

	while (va_arg(list, const char *))
		count++;
	return count;
}

/* `arguments` is all of them with the NULL; the list stands behind that. */
#define COLLECT_ARGUMENTS                                                                          \
	char **arguments;                                                                          \
	va_list list;                                                                              \
	size_t count;                                                                              \
                                                                                                   \
	va_start(list, argument);                                                                  \
	count = 1 + count_arguments(list);                                                         \
	va_end(list);                                                                              \
	arguments = alloca(count * sizeof(*arguments));                                            \
	arguments[0] = (char *)argument;                                                           \
	va_start(list, argument);                                                                  \
	for (size_t i = 1; i < count; i++)                                                         \
	arguments[i] = va_arg(list, char *)

int execl(const char *path, const char *argument, ...)
{
	COLLECT_ARGUMENTS;
	va_end(list);
	return execv(path, arguments);
}

int execlp(const char *file, const char *argument, ...)
{
	COLLECT_ARGUMENTS;
	va_end(list);
	return execvp(file, arguments);
}

int execle(const char *path, const char *argument, ...)
{
	char *const *environment;

	COLLECT_ARGUMENTS;
	environment = va_arg(list, char *const *);
	va_end(list);
	return execve(path, arguments, environment);
}

const void *const kadapt_interposed_exec = execve;
