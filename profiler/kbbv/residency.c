/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which pages of the program's memory are present. For anonymous memory, mincore(2) is the fastest
 * source. For file mappings, mincore(2) reports what is in the page cache, so kbbv reads
 * /proc/self/pagemap instead.
 *
 * kbbv switches transparent huge pages off in this process: with them, one touch would make 512
 * pages present.
 */

#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_vkiscnums.h"
#include "kbbv.h"

/* Declared as in Valgrind's pub_core_*.h; libcoregrind exports them. */
extern SysRes VG_(do_syscall)(UWord number, UWord, UWord, UWord, UWord, UWord, UWord, UWord, UWord);
extern Int VG_(safe_fd)(Int descriptor);
extern Int VG_(prctl)(Int option, ULong, ULong, ULong, ULong);

enum { SET_THP_DISABLE = 41, STRIP = 512 };

static const ULong present_or_swapped = 3ULL << 62;

static Int pagemap = -1;

static void open_pagemap(void)
{
	Int descriptor = VG_(fd_open)("/proc/self/pagemap", VKI_O_RDONLY, 0);

	pagemap = descriptor >= 0 ? VG_(safe_fd)(descriptor) : -1;
}

void residency_initialise(void)
{
	VG_(prctl)(SET_THP_DISABLE, 1, 0, 0, 0);
	open_pagemap();
}

/* Opens the child's pagemap: the inherited descriptor shows the parent's. */
void residency_forked(void)
{
	if (pagemap >= 0)
		VG_(close)(pagemap);
	open_pagemap();
}

/* Lets the program that this process becomes use huge pages. */
void residency_leave_to_successor(void)
{
	VG_(prctl)(SET_THP_DISABLE, 0, 0, 0, 0);
}

static Bool read_anonymous(Addr start, SizeT pages, UChar *present)
{
	SysRes result = VG_(do_syscall)(__NR_mincore, start, pages * VKI_PAGE_SIZE, (UWord)present,
					0, 0, 0, 0, 0);

	if (sr_isError(result))
		return False;
	for (SizeT i = 0; i < pages; i++)
		present[i] &= 1;
	return True;
}

static Bool read_strip(Addr start, SizeT pages, UChar *present)
{
	ULong entries[STRIP];
	UWord wanted = pages * sizeof(ULong);
	SysRes result = VG_(do_syscall)(__NR_pread64, (UWord)pagemap, (UWord)entries, wanted,
					start / VKI_PAGE_SIZE * sizeof(ULong), 0, 0, 0, 0);

	if (sr_isError(result) || sr_Res(result) != wanted)
		return False;
	for (SizeT i = 0; i < pages; i++)
		present[i] = (entries[i] & present_or_swapped) != 0;
	return True;
}

Bool residency_read(Addr start, SizeT pages, Bool of_file, UChar *present)
{
	if (!of_file)
		return read_anonymous(start, pages, present);
	for (SizeT done = 0; done < pages; done += STRIP) {
		SizeT count = pages - done < STRIP ? pages - done : STRIP;

		if (!read_strip(start + done * VKI_PAGE_SIZE, count, present + done))
			return False;
	}
	return True;
}
