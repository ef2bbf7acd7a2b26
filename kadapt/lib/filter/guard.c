// SPDX-License-Identifier: MIT
/*
 * Before the program goes under seccomp(2), the library stops its own calls: the filter
 * must judge only calls that the plain program makes. For this a dynamic program with a
 * quantum or with I/O sites defines these two functions of the C library itself, for the
 * whole process. They are weak: a program may have a function of the same name. A call in
 * inline assembly goes unnoticed.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/prctl.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/device_file.h"
#include "base/optional.h"
#include "libkadapt.h"
#include "slice/slice.h"

#define INTERPOSED __attribute__((weak))

const int kadapt_filter_anchor = 1;
const int kadapt_is_guarded = 1;

typedef int prctl_function(int option, ...);
typedef long syscall_function(long number, ...);

static prctl_function *next_prctl;
static syscall_function *next_syscall;

/* Before main(), because dlsym() takes locks and may allocate. */
__attribute__((constructor(101))) static void find_next(void)
{
	next_prctl = (prctl_function *)dlsym(RTLD_NEXT, "prctl");
	next_syscall = (syscall_function *)dlsym(RTLD_NEXT, "syscall");
}

/* The thread's slice would stay, because nothing could end it later. */
static void stop(void)
{
	if (kadapt_slice)
		kadapt_slice_change(0);
	if (kadapt_io_stop)
		kadapt_io_stop();
	else
		kadapt_device_stop();
}

INTERPOSED int prctl(int option, ...)
{
	unsigned long words[4];
	va_list arguments;

	va_start(arguments, option);
	for (int i = 0; i < 4; i++)
		words[i] = va_arg(arguments, unsigned long);
	va_end(arguments);
	if (option == PR_SET_SECCOMP)
		stop();
	if (!next_prctl)
		find_next();
	return next_prctl(option, words[0], words[1], words[2], words[3]);
}

static int begins_filter(long number, long first)
{
	return number == SYS_seccomp || (number == SYS_prctl && first == PR_SET_SECCOMP);
}

INTERPOSED long syscall(long number, ...)
{
	va_list arguments;
	long words[6];

	va_start(arguments, number);
	for (int i = 0; i < 6; i++)
		words[i] = va_arg(arguments, long);
	va_end(arguments);
	if (begins_filter(number, words[0]))
		stop();
	if (kadapt_io_before_call)
		kadapt_io_before_call(number, words[0]);
	if (!next_syscall)
		find_next();
	return next_syscall(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}
