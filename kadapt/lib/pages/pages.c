// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pages/machine.h"
#include "pages/pages.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

/* At most so much is present twice while contents are copied. */
#define COPY_BYTES KADAPT_HUGE_BYTES

#define HUGE_PAGES "/sys/kernel/mm/transparent_hugepage/"

/* Each size below KADAPT_HUGE_BYTES has its setting in a file of its own. */
static const char *const smaller_sizes[] = {
    HUGE_PAGES "hugepages-16kB/enabled",  HUGE_PAGES "hugepages-32kB/enabled",
    HUGE_PAGES "hugepages-64kB/enabled",  HUGE_PAGES "hugepages-128kB/enabled",
    HUGE_PAGES "hugepages-256kB/enabled", HUGE_PAGES "hugepages-512kB/enabled",
};

/* Huge pages are given: to memory that asks; to all memory; in smaller sizes, too, if it asks. */
static int is_asked, is_given, has_smaller;

static int is_retired;

static int is_any_smaller_chosen(void)
{
	for (size_t i = 0; i < sizeof(smaller_sizes) / sizeof(smaller_sizes[0]); i++)
		if (kadapt_machine_file_has(smaller_sizes[i], "[madvise]") ||
		    kadapt_machine_file_has(smaller_sizes[i], "[inherit]"))
			return 1;
	return 0;
}

static void look(void)
{
	if (syscall(SYS_prctl, PR_GET_THP_DISABLE, 0, 0, 0, 0) > 0)
		return;
	is_given = kadapt_machine_file_has(HUGE_PAGES "enabled", "[always]");
	is_asked = kadapt_machine_file_has(HUGE_PAGES "enabled", "[madvise]");
	has_smaller = is_asked && is_any_smaller_chosen();
}

int kadapt_pages_has_huge(void)
{
	static pthread_once_t looked = PTHREAD_ONCE_INIT;

	pthread_once(&looked, look);
	return is_given || is_asked;
}

static int advise(void *start, size_t bytes, int advice)
{
	return syscall(SYS_madvise, start, bytes, advice) == 0;
}

void kadapt_pages_ask_huge(char *start, size_t bytes)
{
	size_t whole = has_smaller ? bytes : bytes & ~(KADAPT_HUGE_BYTES - 1);

	if (kadapt_pages_has_huge() && is_asked && whole)
		advise(start, whole, MADV_HUGEPAGE);
}

static void *map_nothing(void *start, size_t bytes, int flags)
{
	return (void *)syscall(SYS_mmap, start, bytes, PROT_NONE,
			       MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
}

void *kadapt_pages_reserve(size_t bytes)
{
	void *start = map_nothing(NULL, bytes, 0);

	return start == MAP_FAILED ? NULL : start;
}

int kadapt_pages_open(void *start, size_t bytes)
{
	return syscall(SYS_mprotect, start, bytes, PROT_READ | PROT_WRITE) == 0;
}

void kadapt_pages_retire(void)
{
	is_retired = 1;
}

int kadapt_pages_unmap(void *start, size_t bytes)
{
	return syscall(SYS_munmap, start, bytes) == 0;
}

/* Maps anew instead of unmapping, so that no other mapping can be placed there. */
int kadapt_pages_close(void *start, size_t bytes)
{
	if (is_retired)
		return kadapt_pages_unmap(start, bytes);
	return map_nothing(start, bytes, MAP_FIXED) != MAP_FAILED;
}

void kadapt_pages_drop(void *start, size_t bytes)
{
	advise(start, bytes, MADV_DONTNEED);
}

/* `from` stays mapped, so that no other mapping can be placed there. */
int kadapt_pages_move(void *to, void *from, size_t bytes)
{
	const int flags = MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP;

	if ((void *)syscall(SYS_mremap, from, bytes, bytes, flags, to) == MAP_FAILED)
		return 0;
	/* The program may have changed the protection of these pages. */
	kadapt_pages_open(to, bytes);
	return 1;
}

void kadapt_pages_copy(char *to, char *from, size_t bytes)
{
	for (size_t done = 0; done < bytes; done += COPY_BYTES) {
		size_t piece = bytes - done < COPY_BYTES ? bytes - done : COPY_BYTES;

		memcpy(to + done, from + done, piece);
		kadapt_pages_drop(from + done, piece);
	}
}

int kadapt_pages_idle(void *start, size_t bytes)
{
	return advise(start, bytes, MADV_FREE);
}

int kadapt_pages_populate(void *start, size_t bytes)
{
	return advise(start, bytes, MADV_POPULATE_WRITE);
}
