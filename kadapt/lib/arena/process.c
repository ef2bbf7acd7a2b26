// SPDX-License-Identifier: MIT
/* Whether this process may have an arena. The dynamic linker knows who defines a function. */
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

/* Then the kernel counts memory before it is touched, and the arena's tables would count, too. */
static int is_strictly_counted(void)
{
	return kadapt_machine_file_has("/proc/sys/vm/overcommit_memory", "2");
}

/* A list such as 0-1. A page's first touch decides its node, and kept pages are used again. */
static int has_several_nodes(void)
{
	return kadapt_machine_file_has("/sys/devices/system/node/online", "-") ||
	       kadapt_machine_file_has("/sys/devices/system/node/online", ",");
}

/*
 * Valgrind replaces free() and its relatives, whatever the dynamic linker found, so the
 * linker cannot tell. This is Valgrind's documented request 0x1001
 * (RUNNING_ON_VALGRIND), which does nothing on a real processor.
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

/* Returns the address at which the file of this symbol was loaded, or NULL. */
static const void *home_of(const char *symbol)
{
	void *address = dlsym(RTLD_DEFAULT, symbol);
	Dl_info found;

	return address && dladdr(address, &found) ? found.dli_fbase : NULL;
}

/*
 * A program may define each operator itself. If the C++ library is part of the program's
 * own file, the owner of the operators cannot be told.
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
