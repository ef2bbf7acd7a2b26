// SPDX-License-Identifier: MIT
/*
 * KADAPT_TOOL=libkadapt-regions.so: makes each phase a region of a profiler in the same process.
 * KADAPT_REGION_BEGIN and KADAPT_REGION_END name the profiler's functions, such as NVTX's
 * nvtxRangePushA and nvtxRangePop. Without them they are Caliper's, cali_begin_region and
 * cali_end_region. The first gets the region's name; the second, too, and may ignore it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "kadapt_tool.h"

static void (*region_begin)(const char *name);
static void (*region_end)(const char *name);

static void *find(const char *variable, const char *otherwise)
{
	const char *wish = getenv(variable);
	const char *name = wish ? wish : otherwise;
	void *function = dlsym(RTLD_DEFAULT, name);

	if (!function)
		fprintf(stderr, "kadapt: the program has no function %s; preload its library\n",
			name);
	return function;
}

__attribute__((constructor)) static void begin(void)
{
	*(void **)&region_begin = find("KADAPT_REGION_BEGIN", "cali_begin_region");
	*(void **)&region_end = find("KADAPT_REGION_END", "cali_end_region");
}

static void call(void (*function)(const char *), uint32_t phase, const char *name)
{
	int saved_errno = errno;
	char text[96];

	snprintf(text, sizeof(text), "phase %u %.64s", phase, name);
	if (function)
		function(text);
	errno = saved_errno;
}

void kadapt_tool_enter(uint32_t phase, const char *name)
{
	call(region_begin, phase, name);
}

void kadapt_tool_leave(uint32_t phase, const char *name)
{
	call(region_end, phase, name);
}
