// SPDX-License-Identifier: MIT
/* In the place of mmap(2). What it returns is the kernel's answer, whatever comes of the rest. */
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

/* A file is mapped ahead as far as it takes such a part of what could be had. */
#define AVAILABLE_PART 8

_Atomic int kadapt_has_dense_mappings;

/* At home the file is read, and its pages are mapped as it is touched, sixteen at a time. */
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

/* Of memory that a program maps to touch all of it, and of no other. */
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
