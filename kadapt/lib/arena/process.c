// SPDX-License-Identifier: MIT
/* Whether this process is one for an arena: the dynamic linker knows whose functions are whose. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <unistd.h>

#include "arena/next.h"
#include "arena/process.h"
#include "arena/spans.h"
#include "pages/machine.h"

static int is_limited(int resource)
{
	struct rlimit limit;

	return getrlimit(resource, &limit) || limit.rlim_cur != RLIM_INFINITY;
}

/* All memory that a process is given counts at once, so an arena's table would be seen. */
static int is_strictly_counted(void)
{
	return kadapt_machine_file_has("/proc/sys/vm/overcommit_memory", "2");
}

/* A list such as 0-1: who touches a page first decides where it is, and pages are used again. */
static int has_several_nodes(void)
{
	return kadapt_machine_file_has("/sys/devices/system/node/online", "-") ||
	       kadapt_machine_file_has("/sys/devices/system/node/online", ",");
}

/*
 * Valgrind puts its own functions in the place of free() and its like, whatever
 * the linker found, and there is no asking the linker. This is its documented
 * request 0x1001 (RUNNING_ON_VALGRIND), which does nothing on a processor.
 */
static int is_under_valgrind(void)
{
#ifdef __x86_64__
	volatile unsigned long request[6] = {0x1001};
	unsigned long answer = 0;

	__asm__ volatile("rolq $3, %%rdi; rolq $13, %%rdi\n\t"
			 "rolq $61, %%rdi; rolq $51, %%rdi\n\t"
			 "xchgq %%rbx, %%rbx"
			 : "+d"(answer)
			 : "a"(&request[0])
			 : "cc", "memory");
	return answer != 0;
#else
	return 0;
#endif
}

/* The C library gives its malloc a second name, which nobody replaces. */
static int has_librarys_malloc(void)
{
	void *librarys = dlsym(RTLD_DEFAULT, "__libc_malloc");

	return librarys && dlsym(RTLD_DEFAULT, "malloc") == librarys &&
	       dlsym(RTLD_DEFAULT, "calloc") == dlsym(RTLD_DEFAULT, "__libc_calloc") &&
	       kadapt_is_free_ours();
}

int kadapt_process_allows_arena(void)
{
	return sysconf(_SC_PAGESIZE) == (long)KADAPT_PAGE_BYTES && !getauxval(AT_SECURE) &&
	       !is_limited(RLIMIT_AS) && !is_limited(RLIMIT_DATA) && !is_under_valgrind() &&
	       has_librarys_malloc() && !is_strictly_counted() && !has_several_nodes();
}

static const char *const operators[] = {
    "_Znwm",
    "_Znam",
    "_ZnwmRKSt9nothrow_t",
    "_ZnamRKSt9nothrow_t",
    "_ZnwmSt11align_val_t",
    "_ZnamSt11align_val_t",
    "_ZnwmSt11align_val_tRKSt9nothrow_t",
    "_ZnamSt11align_val_tRKSt9nothrow_t",
    "_ZdlPv",
    "_ZdaPv",
    "_ZdlPvm",
    "_ZdaPvm",
    "_ZdlPvRKSt9nothrow_t",
    "_ZdaPvRKSt9nothrow_t",
    "_ZdlPvSt11align_val_t",
    "_ZdaPvSt11align_val_t",
    "_ZdlPvmSt11align_val_t",
    "_ZdaPvmSt11align_val_t",
};

/* Where the file that holds this symbol was loaded, or NULL. */
static const void *home_of(const char *symbol)
{
	void *address = dlsym(RTLD_DEFAULT, symbol);
	Dl_info found;

	return address && dladdr(address, &found) ? found.dli_fbase : NULL;
}

/*
 * A program may define each of them itself. Where the C++ library is part of the
 * program's own file it can't be told whose they are.
 */
int kadapt_process_has_plain_new(void)
{
	const void *library = home_of("__cxa_allocate_exception");
	Dl_info program;

	if (!library || !dladdr((const void *)&kadapt_process_has_plain_new, &program) ||
	    program.dli_fbase == library)
		return 0;
	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++)
		if (home_of(operators[i]) != library)
			return 0;
	return 1;
}
