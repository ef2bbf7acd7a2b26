// SPDX-License-Identifier: MIT
/* Interposed: what the kernel was told of a mapping is not to be said of the next one there. */
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

	/* Before, because another thread may map something there at once. */
	if (kadapt_has_dense_mappings)
		kadapt_range_forget((uintptr_t)start, whole);
	errno = saved_errno;
	return (int)syscall(SYS_munmap, start, size);
}
