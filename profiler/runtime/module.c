// SPDX-License-Identifier: MIT
/* Each program file and shared library has a copy of this: it adds and removes its units. */
#include "kprofile.h"

#include <dlfcn.h>
#include <limits.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

enum { FIRST = 101 };

extern const struct unit __start_kadence_units[] HIDDEN;
extern const struct unit __stop_kadence_units[] HIDDEN;
extern const char __ehdr_start[] HIDDEN;
extern int dladdr(const void *address, Dl_info *info) __attribute__((weak));

/* Units refer to this symbol, and it refers to interpose.c, which must be linked with it. */
extern const char kadence_interpose HIDDEN;
HIDDEN const char *const kadence_module = &kadence_interpose;

static bool is_program(void)
{
	const uintptr_t headers = getauxval(AT_PHDR);

	return headers - (uintptr_t)__ehdr_start < 4096;
}

static const char *object(void)
{
	static char path[PATH_MAX];
	Dl_info info;
	ssize_t length;

	if (!is_program())
		return dladdr && dladdr(__ehdr_start, &info) ? info.dli_fname : "";
	length = readlink("/proc/self/exe", path, sizeof(path) - 1);
	path[length > 0 ? length : 0] = 0;
	return path;
}

__attribute__((constructor(FIRST))) static void bring(void)
{
	kprofile_add_units(__start_kadence_units, __stop_kadence_units, object());
}

__attribute__((destructor(FIRST))) static void take(void)
{
	if (is_program())
		kprofile_finish();
	else
		kprofile_remove_units(__start_kadence_units, __stop_kadence_units);
}
