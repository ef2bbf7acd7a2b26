// SPDX-License-Identifier: MIT
/*
 * The functions of the C library that a dynamic program with I/O sites defines itself,
 * for the whole process. The contents of files do not depend on them, because the
 * kernel guards bound files.
 *
 * - Writes of shared libraries, such as libstdc++ and libgfortran, go into rings if the
 *   plan says so.
 * - Before the program changes its limits or its user, the library unbinds all rings:
 *   the kernel checked the program's rights when it bound them.
 * - Before calls for which the kernel reads a file's size without asking its guard, the
 *   library unbinds the descriptor's ring.
 *
 * syscall() and prctl() are in kadapt/lib/filter.
 *
 * All are weak: a program may have a function of the same name.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/optional.h"
#include "calls/next.h"
#include "interpose/interpose.h"
#include "libkadapt.h"
#include "ring/begin.h"
#include "ring/rings.h"
#include "ring/slot.h"

#define INTERPOSED __attribute__((weak))

/* Linux 6.5; older headers lack it. */
#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif

INTERPOSED ssize_t write(int descriptor, const void *bytes, size_t size)
{
	return kadapt_has_stream_rings ? kadapt_write(descriptor, bytes, size)
				       : kadapt_next_write(descriptor, bytes, size);
}

INTERPOSED ssize_t writev(int descriptor, const struct iovec *pieces, int count)
{
	return kadapt_has_stream_rings ? kadapt_writev(descriptor, pieces, count)
				       : kadapt_next_writev(descriptor, pieces, count);
}

INTERPOSED int fflush(FILE *stream)
{
	return kadapt_has_stream_rings ? kadapt_fflush(stream) : kadapt_next_fflush(stream);
}

INTERPOSED int fflush_unlocked(FILE *stream)
{
	return kadapt_has_stream_rings ? kadapt_fflush_unlocked(stream)
				       : kadapt_next_fflush_unlocked(stream);
}

/* As KADAPT_UNBINDING_FUNCTIONS. */
static int needs_unbound_rings(long number)
{
	switch (number) {
	case SYS_setrlimit:
	case SYS_prlimit64:
	case SYS_setuid:
	case SYS_setreuid:
	case SYS_setresuid:
	case SYS_setfsuid:
	case SYS_setgid:
	case SYS_setregid:
	case SYS_setresgid:
	case SYS_setfsgid:
	case SYS_setgroups:
	case SYS_capset:
	case SYS_unshare:
	case SYS_close_range:
	case SYS_syncfs:
	case SYS_sync:
	case SYS_io_uring_setup:
		return 1;
	default:
		return 0;
	}
}

/* As KADAPT_SIZE_FUNCTIONS. The device's descriptor has no ring, so its calls go through. */
static int reads_size(long number)
{
	return number == SYS_ioctl || number == SYS_fcntl || number == SYS_copy_file_range ||
	       number == SYS_cachestat;
}

static void unbind_of(int descriptor)
{
	const struct kadapt_slot *slot = kadapt_slot_of(descriptor);

	if (slot && slot->is_bound)
		kadapt_rings_unbind();
}

void kadapt_io_before_call(long number, long first)
{
	if (needs_unbound_rings(number))
		kadapt_rings_unbind();
	if (reads_size(number))
		unbind_of((int)first);
}

#define UNBIND_BEFORE(type, name, parameters, arguments)                                           \
	INTERPOSED type name parameters                                                            \
	{                                                                                          \
		kadapt_rings_unbind();                                                             \
		return kadapt_next_##name arguments;                                               \
	}

KADAPT_UNBINDING_FUNCTIONS(UNBIND_BEFORE)

#define UNBIND_OF_BEFORE(type, name, parameters, arguments)                                        \
	INTERPOSED type name parameters                                                            \
	{                                                                                          \
		unbind_of(descriptor);                                                             \
		return kadapt_next_##name arguments;                                               \
	}

KADAPT_SIZE_FUNCTIONS(UNBIND_OF_BEFORE)

const void *const kadapt_interposed_calls = write;

/* Takes prctl() and syscall() into the program. */
static const int *const filter_reference __attribute__((used)) = &kadapt_filter_anchor;
