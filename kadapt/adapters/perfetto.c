// SPDX-License-Identifier: MIT
/*
 * KADAPT_TOOL=libkadapt-perfetto.so: writes the phases of a process as a trace that Perfetto opens
 * (JSON trace events), to KADAPT_TRACE or kadapt-trace.PID.json. `%p` in the name is the process.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "kadapt_tool.h"

static int trace = -1;

/* Expands %p to the process. */
static void name_trace(char *name, size_t room)
{
	const char *wish = getenv("KADAPT_TRACE");
	const char *place = wish ? strstr(wish, "%p") : NULL;

	if (place)
		snprintf(name, room, "%.*s%d%s", (int)(place - wish), wish, getpid(), place + 2);
	else if (wish)
		snprintf(name, room, "%s", wish);
	else
		snprintf(name, room, "kadapt-trace.%d.json", getpid());
}

__attribute__((constructor)) static void begin(void)
{
	char name[4096];

	name_trace(name, sizeof(name));
	trace = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
	if (trace < 0 || write(trace, "[\n", 2) < 0)
		fprintf(stderr, "kadapt: cannot write %s: %s\n", name, strerror(errno));
	/* A child of fork() would write into its parent's file. */
	pthread_atfork(NULL, NULL, begin);
}

/* JSON's own characters cannot be in a string as they are. */
static void copy_name(char *copy, size_t room, const char *name)
{
	size_t used = 0;

	for (; *name && used + 1 < room; name++)
		copy[used++] = *name < ' ' || *name == '"' || *name == '\\' ? '?' : *name;
	copy[used] = '\0';
}

/* One write(2), so that threads' events do not mix. The list may end without a bracket. */
static void event(char kind, uint32_t phase, const char *name)
{
	int saved_errno = errno;
	struct timespec now;
	char shown[65];
	char line[256];
	int length;

	copy_name(shown, sizeof(shown), name);
	clock_gettime(CLOCK_MONOTONIC, &now);
	length = snprintf(line, sizeof(line),
			  "{\"name\":\"%u %s\",\"cat\":\"phase\",\"ph\":\"%c\",\"ts\":%" PRId64
			  ".%03ld,\"pid\":%d,\"tid\":%d},\n",
			  phase, shown, kind, now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000,
			  now.tv_nsec % 1000, getpid(), gettid());
	if (trace >= 0 && write(trace, line, (size_t)length) < 0)
		trace = -1;
	errno = saved_errno;
}

void kadapt_tool_enter(uint32_t phase, const char *name)
{
	event('B', phase, name);
}

void kadapt_tool_leave(uint32_t phase, const char *name)
{
	event('E', phase, name);
}
