// SPDX-License-Identifier: MIT
/* These replace mmap(2). They return the kernel's answer, even if a treatment fails. */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/mman.h>

#include "arena/home.h"
#include "arena/ranges.h"
#include "arena/spans.h"
#include "kadapt.h"
#include "libkadapt.h"
#include "pages/machine.h"
#include "pages/pages.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

/* A file's pages are mapped ahead up to 1 / AVAILABLE_PART of the available memory. */
#define AVAILABLE_PART 8

_Atomic int kadapt_has_dense_mappings;

/* Without a device the file is read ahead; touches map its pages, sixteen at a time. */
static void map_ahead(void *start, size_t size)
{
	size_t most = kadapt_home_is() ? 0
				       : kadapt_machine_bytes_available() / AVAILABLE_PART &
					     ~(KADAPT_PAGE_BYTES - 1);
	size_t now = size < most ? size : most;

	if (now && madvise(start, now, MADV_POPULATE_READ))
		now = 0;
	if (now < size)
		madvise((char *)start + now, size - now, MADV_WILLNEED);
}

/* Only for memory that the program maps to touch all of it. */
static void treat_anonymous(void *start, size_t size, unsigned int treatments)
{
	size_t whole = (size + KADAPT_PAGE_BYTES - 1) & ~(KADAPT_PAGE_BYTES - 1);

	if (treatments & KADAPT_TREAT_POPULATE &&
	    kadapt_range_bind((uintptr_t)start, whole, KADAPT_MEMORY_DENSE))
		kadapt_has_dense_mappings = kadapt_unmap_anchor;
	if (treatments & KADAPT_TREAT_HUGE && !kadapt_home_is())
		kadapt_pages_ask_huge(start, whole);
}

static void treat(void *start, size_t size, int protection, int flags, unsigned int treatments)
{
	const int special = MAP_HUGETLB | MAP_GROWSDOWN | MAP_NORESERVE | MAP_FIXED;
	int saved_errno = errno;

	if (!(flags & MAP_ANONYMOUS) && treatments & KADAPT_TREAT_MAP_AHEAD &&
	    protection & PROT_READ)
		map_ahead(start, size);
	if (flags & MAP_ANONYMOUS && flags & MAP_PRIVATE && !(flags & special) &&
	    protection & PROT_WRITE)
		treat_anonymous(start, size, treatments);
	errno = saved_errno;
}

void *kadapt_mmap(void *address, size_t size, int protection, int flags, int descriptor,
		  off_t offset, unsigned int treatments)
{
	void *start = mmap(address, size, protection, flags, descriptor, offset);

	if (start != MAP_FAILED)
		treat(start, size, protection, flags, treatments);
	return start;
}

void *kadapt_mmap64(void *address, size_t size, int protection, int flags, int descriptor,
		    off_t offset, unsigned int treatments) __attribute__((alias("kadapt_mmap")));
