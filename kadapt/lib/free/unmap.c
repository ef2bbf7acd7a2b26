// SPDX-License-Identifier: MIT
/* Interposed: a range bound for one mapping must not apply to the next mapping there. */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arena/ranges.h"
#include "arena/spans.h"

const int kadapt_unmap_anchor = 1;

__attribute__((weak)) int munmap(void *start, size_t size)
{
	size_t whole = (size + KADAPT_PAGE_BYTES - 1) & ~(KADAPT_PAGE_BYTES - 1);
	int saved_errno = errno;

	/* Before the system call: right after it another thread may map memory there. */
	if (kadapt_has_dense_mappings)
		kadapt_range_unbind((uintptr_t)start, whole);
	errno = saved_errno;
	return (int)syscall(SYS_munmap, start, size);
}
