/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Defines send() and, with PLAIN, write() in place of the C library. Without PLAIN, also defines
 * libkadapt's calls. Each batch call runs the loop that it replaces. When the adapted program ends,
 * it prints the number of batches on standard error.
 */
#include "scripted_io.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>

#define MOST_CALLS 40

struct script script;

ssize_t scripted_call(const char *name, int descriptor, const void *piece, size_t size, int flags)
{
	ssize_t result = (ssize_t)size;

	if (script.calls == MOST_CALLS)
		longjmp(*script.enough, 1);
	if (script.calls == script.failing)
		result = script.result;
	if (result < 0)
		errno = 100 + script.calls;
	printf("%s %d %ld %zu %d: %zd\n", name, descriptor,
	       (long)((intptr_t)piece - (intptr_t)script.base), size, flags, result);
	script.calls++;
	return result;
}

ssize_t send(int descriptor, const void *piece, size_t size, int flags)
{
	return scripted_call("send", descriptor, piece, size, flags);
}

#ifdef PLAIN

ssize_t write(int descriptor, const void *piece, size_t size)
{
	return scripted_call("write", descriptor, piece, size, 0);
}

#else

ssize_t kadapt_write(int descriptor, const void *piece, size_t size);
int64_t kadapt_batch_write(int descriptor, const void *base, uint64_t size, uint64_t stride,
			   uint64_t count, int64_t *last);
int64_t kadapt_batch_send(int descriptor, const void *base, uint64_t size, uint64_t stride,
			  uint64_t count, int flags, int64_t *last);

static int batches;

ssize_t kadapt_write(int descriptor, const void *piece, size_t size)
{
	return scripted_call("write", descriptor, piece, size, 0);
}

static int64_t batch(const char *name, int descriptor, const char *base, uint64_t size,
		     uint64_t stride, uint64_t count, int flags, int64_t *last)
{
	batches++;
	for (uint64_t done = 0; done < count; done++) {
		*last = scripted_call(name, descriptor, base + done * stride, size, flags);
		if (*last != (int64_t)size)
			return (int64_t)done;
	}
	return (int64_t)count;
}

int64_t kadapt_batch_write(int descriptor, const void *base, uint64_t size, uint64_t stride,
			   uint64_t count, int64_t *last)
{
	return batch("write", descriptor, base, size, stride, count, 0, last);
}

int64_t kadapt_batch_send(int descriptor, const void *base, uint64_t size, uint64_t stride,
			  uint64_t count, int flags, int64_t *last)
{
	return batch("send", descriptor, base, size, stride, count, flags, last);
}

__attribute__((destructor)) static void tell(void)
{
	fprintf(stderr, "%d batches\n", batches);
}

#endif
