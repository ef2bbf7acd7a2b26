// SPDX-License-Identifier: MIT
/* The ranges for memory that no site allocates. They are bound when the program starts. */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <unistd.h>

#include "arena/ranges.h"
#include "arena/spans.h"
#include "kadapt.h"
#include "libkadapt.h"

const int kadapt_memory_anchor = 1;

/* The reach of the heap's range. Holes and other memory in it are served as without a range. */
#define HEAP_BYTES ((uintptr_t)1 << 40)

/* The range of a stack without a limit. */
#define STACK_BYTES ((uintptr_t)1 << 30)

/* A program cannot map lower addresses. */
#define FIRST_ADDRESS ((uintptr_t)1 << 16)

int kadapt_range_is_known(void)
{
	return !!(kadapt_device_query()->features & KADAPT_FEATURE_MEMORY);
}

int kadapt_range_bind(uintptr_t start, size_t bytes, uint32_t flags)
{
	struct kadapt_memory range = {.address = start, .bytes = bytes, .flags = flags};
	int descriptor = kadapt_range_is_known() ? kadapt_device_current() : KADAPT_DEVICE_OFF;

	return descriptor >= 0 &&
	       kadapt_device_call(descriptor, KADAPT_MEMORY, (unsigned long)&range) == 0;
}

void kadapt_range_unbind(uintptr_t start, size_t bytes)
{
	kadapt_range_bind(start, bytes,
			  kadapt_plan.ahead & KADAPT_AHEAD_MAPPINGS ? KADAPT_MEMORY_AHEAD
								    : KADAPT_MEMORY_PLAIN);
}

static uintptr_t round_down(uintptr_t address)
{
	return address & ~(KADAPT_PAGE_BYTES - 1);
}

/* The kernel puts the program's file name at the very end of the stack. */
static uintptr_t end_of_stack(void)
{
	return round_down(getauxval(AT_EXECFN)) + KADAPT_PAGE_BYTES;
}

static void bind_between(uintptr_t start, uintptr_t end, int is_ahead)
{
	if (start < end)
		kadapt_range_bind(start, end - start,
				  is_ahead ? KADAPT_MEMORY_AHEAD : KADAPT_MEMORY_PLAIN);
}

static void bind_heap(uintptr_t end, int is_ahead)
{
	uintptr_t start = round_down((uintptr_t)sbrk(0));

	bind_between(start, end - start < HEAP_BYTES ? end : start + HEAP_BYTES, is_ahead);
}

static void bind_stack(uintptr_t end, int is_ahead)
{
	struct rlimit limit;
	uintptr_t bytes = STACK_BYTES;

	if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < STACK_BYTES)
		bytes = round_down(limit.rlim_cur);
	bind_between(end - bytes, end, is_ahead);
}

/* Where ranges overlap, the later call counts, so the largest range comes first. */
static void bind_ahead(uint32_t ahead)
{
	uintptr_t end = end_of_stack();

	if (ahead & KADAPT_AHEAD_MAPPINGS)
		bind_between(FIRST_ADDRESS, end, 1);
	bind_heap(end, !!(ahead & KADAPT_AHEAD_HEAP));
	bind_stack(end, !!(ahead & KADAPT_AHEAD_STACK));
}

/*
 * The heaps of other threads grow by no more than a block needs. Each time a system call moves
 * the end of a mapping, so no mapped memory lies ahead. With one processor, as on User-Mode
 * Linux, several heaps save no thread any waiting.
 */
static void have_one_heap(void)
{
	if (sysconf(_SC_NPROCESSORS_ONLN) == 1)
		mallopt(M_ARENA_MAX, 1);
}

/* Runs after the device was opened. A program without a plan never opens it. */
__attribute__((constructor(102))) static void begin_ranges(void)
{
	int saved_errno = errno;

	if (kadapt_range_is_known() && kadapt_plan.flags & KADAPT_PLAN_MEMORY) {
		if (kadapt_plan.ahead)
			bind_ahead(kadapt_plan.ahead);
		if (kadapt_plan.ahead & KADAPT_AHEAD_HEAP)
			have_one_heap();
	}
	errno = saved_errno;
}
