/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the program's system calls do to its memory, and when kbbv looks which pages it touched:
 * before pages go away, and at the end of a row. If much memory is mapped and not touched, a look
 * costs more than a row should. Rows therefore earn looks, and touches belong to the row whose
 * look finds them.
 */

#include "pub_tool_libcbase.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_aspacemgr.h"
#include "pub_tool_vkiscnums.h"
#include "kbbv.h"

enum {
	INSTRUCTIONS_PER_PAGE = 32, /* by which a row earns a look at a page, some 5 ns */
	ROWS_SAVED = 64,	    /* rows' earnings that may be saved up at most */
	DISCARD = 4,		    /* MADV_DONTNEED */
	BORROWED = 0x4000,	    /* CLONE_VFORK */
	STACK_FLAG = 0x20000,	    /* MAP_STACK */
};

static ULong earned_by_row;
static ULong earned;
static ULong rows_unseen;
static Bool begun;
static Bool copies_memory; /* whether the fork or clone that is under way does */
static Addr heap_end;
static struct mapping *main_stack;
static Addr stack_start;

static Addr up_to_page(Addr address)
{
	return (address + VKI_PAGE_SIZE - 1) & ~(Addr)(VKI_PAGE_SIZE - 1);
}

void memory_set_interval(ULong interval)
{
	earned_by_row = interval / INSTRUCTIONS_PER_PAGE + 1;
}

void memory_initialise(ULong interval)
{
	memory_set_interval(interval);
	residency_initialise();
}

/* ---- memory that exists at the start ------------------------------------------------------ */

static void adopt(const NSegment *segment, Addr stack_pointer)
{
	Addr start = segment->start, end = segment->end + 1;
	struct birth birth = {.kind = segment->isCH ? GROWN_MEMORY : PROGRAM_DATA};
	const UInt first_thread = 1;

	if (!segment->hasW)
		return;
	if (start <= stack_pointer && stack_pointer < end) {
		birth.kind = MAIN_STACK;
		main_stack = mappings_add(first_thread, start, end, &birth);
		stack_start = start;
	} else {
		mappings_add(first_thread, start, end, &birth);
	}
}

static void adopt_all(ThreadId id)
{
	Int capacity = 64, count;
	Addr *starts = VG_(malloc)("kbbv.starts", (SizeT)capacity * sizeof(*starts));

	while ((count = VG_(am_get_segment_starts)(SkAnonC, starts, capacity)) < 0) {
		capacity = -count;
		starts = VG_(realloc)("kbbv.starts", starts, (SizeT)capacity * sizeof(*starts));
	}
	for (Int i = 0; i < count; i++)
		adopt(VG_(am_find_nsegment)(starts[i]), VG_(get_SP)(id));
	VG_(free)(starts);
}

/* The first system call is early enough: before it, the program mapped nothing. */
static void begin(ThreadId id)
{
	if (begun)
		return;
	begun = True;
	adopt_all(id);
}

/* ---- looking ------------------------------------------------------------------------------ */

static void follow_stack(UInt thread)
{
	const NSegment *segment = main_stack ? VG_(am_find_nsegment)(stack_start) : NULL;

	if (!segment || segment->start >= stack_start)
		return;
	mappings_extend(thread, main_stack, segment->start, stack_start);
	stack_start = segment->start;
}

void memory_look(UInt thread)
{
	follow_stack(thread);
	mappings_look(0, ~(Addr)0);
	mappings_tell_touches(thread);
}

void memory_row_ends(UInt thread)
{
	ULong cost = mappings_cost_of_look();

	earned += earned_by_row;
	if (cost <= earned) {
		earned -= cost;
		memory_look(thread);
	} else {
		rows_unseen++;
		mappings_tell_touches(thread); /* of pages that are gone */
	}
	if (earned > ROWS_SAVED * earned_by_row)
		earned = ROWS_SAVED * earned_by_row;
}

ULong memory_rows_unseen(void)
{
	return rows_unseen;
}

/* ---- system calls ------------------------------------------------------------------------- */

void memory_before(ThreadId id, UInt number, const UWord *arguments)
{
	begin(id);
	switch (number) {
	case __NR_mmap:
		if (arguments[3] & VKI_MAP_FIXED)
			mappings_look(arguments[0], arguments[0] + up_to_page(arguments[1]));
		break;
	case __NR_madvise:
		if (arguments[2] == DISCARD)
			mappings_look(arguments[0], arguments[0] + up_to_page(arguments[1]));
		break;
	case __NR_fork:
		copies_memory = True;
		break;
	case __NR_clone:
		copies_memory = !(arguments[0] & BORROWED);
		break;
	case __NR_vfork:
		copies_memory = False;
		break;
	case __NR_munmap:
	case __NR_mremap:
		mappings_look(arguments[0], arguments[0] + up_to_page(arguments[1]));
		break;
	case __NR_brk:
		if (arguments[0] && arguments[0] < heap_end)
			mappings_look(up_to_page(arguments[0]), up_to_page(heap_end));
		break;
	}
}

static enum memory kind_of(const UWord *arguments)
{
	Bool private = (arguments[3] & 3) == VKI_MAP_PRIVATE;

	if (!(arguments[3] & VKI_MAP_ANONYMOUS))
		return private ? PRIVATE_FILE : SHARED_FILE;
	if (!private)
		return SHARED_MEMORY;
	return arguments[3] & STACK_FLAG ? THREAD_STACK : ANONYMOUS_MEMORY;
}

static struct birth birth_by(ThreadId id, enum memory kind)
{
	return (struct birth){
	    .kind = kind,
	    .site = sites_of_call(id),
	    .request = kbbv_request,
	};
}

/* Ignores file mappings without a site: they are the loader's. */
static void mapped(ThreadId id, const UWord *arguments, Addr start)
{
	struct birth birth = birth_by(id, kind_of(arguments));
	Addr end = start + up_to_page(arguments[1]);
	UInt thread = threads_of(id)->serial;

	birth.unreserved = (arguments[3] & VKI_MAP_NORESERVE) != 0;
	mappings_remove(thread, start, end);
	if (arguments[2] == VKI_PROT_NONE && birth.kind != SHARED_MEMORY)
		mappings_reserve(start, end, birth.kind == THREAD_STACK);
	else if ((birth.kind != PRIVATE_FILE && birth.kind != SHARED_FILE) || birth.site != NO_SITE)
		mappings_add(thread, start, end, &birth);
}

static void attached(ThreadId id, Addr start)
{
	const NSegment *segment = VG_(am_find_nsegment)(start);
	struct birth birth = birth_by(id, SHARED_MEMORY);

	if (segment)
		mappings_add(threads_of(id)->serial, start, segment->end + 1, &birth);
}

static void heap_ends(ThreadId id, Addr end)
{
	Addr before = up_to_page(heap_end), after = up_to_page(end);
	UInt thread = threads_of(id)->serial;

	if (heap_end && after > before) {
		struct birth birth = birth_by(id, GROWN_MEMORY);

		mappings_add(thread, before, after, &birth);
	} else if (after < before) {
		mappings_remove(thread, after, before);
	}
	heap_end = end;
}

static void made_writable(ThreadId id, const UWord *arguments)
{
	struct birth birth;

	if (!(arguments[2] & VKI_PROT_WRITE))
		return;
	birth = birth_by(id, GROWN_MEMORY);
	mappings_open(threads_of(id)->serial, arguments[0], arguments[0] + up_to_page(arguments[1]),
		      &birth);
}

void memory_after(ThreadId id, UInt number, const UWord *arguments, UWord result)
{
	UInt thread = threads_of(id)->serial;

	switch (number) {
	case __NR_mmap:
		mapped(id, arguments, result);
		break;
	case __NR_shmat:
		attached(id, result);
		break;
	case __NR_brk:
		heap_ends(id, result);
		break;
	case __NR_mprotect:
		made_writable(id, arguments);
		break;
	case __NR_munmap:
		mappings_remove(thread, arguments[0], arguments[0] + up_to_page(arguments[1]));
		break;
	case __NR_mremap:
		mappings_move(thread, arguments[0], up_to_page(arguments[1]), result,
			      up_to_page(arguments[2]));
		break;
	case __NR_madvise:
		if (arguments[2] == DISCARD)
			mappings_discard(arguments[0], arguments[0] + up_to_page(arguments[1]));
		break;
	}
}

/* Records no fork that shares memory (vfork): the child copies nothing. */
void memory_forked(ThreadId id)
{
	if (!copies_memory)
		return;
	stream_begin(FRAME_FORK);
	stream_number(threads_of(id)->serial);
	stream_finish();
}

void memory_in_child(UInt thread)
{
	rows_unseen = 0;
	mappings_forked(thread);
}
