// SPDX-License-Identifier: MIT
/*
 * Opens the tool that KADAPT_TOOL names. link.specs asks for this in programs that are not static:
 * a static program has no dlopen() unless it calls it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "observe/observe.h"

/* Before the program's own constructors, which may be adapted code. */
__attribute__((constructor(102))) KADAPT_HIDDEN void kadapt_open_tool(void)
{
	const char *path = secure_getenv("KADAPT_TOOL");
	int saved_errno = errno;
	void *tool;

	if (!path || !*path)
		return;
	tool = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (tool) {
		*(void **)&kadapt_tell_enter = dlsym(tool, "kadapt_tool_enter");
		*(void **)&kadapt_tell_leave = dlsym(tool, "kadapt_tool_leave");
		kadapt_observers++;
	} else {
		fprintf(stderr, "kadapt: no tool, because %s\n", dlerror());
	}
	errno = saved_errno;
}
