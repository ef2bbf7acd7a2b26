/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts about the run as a whole, from its system calls. */

#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_aspacemgr.h"
#include "pub_tool_vkiscnums.h"
#include "kbbv.h"

/* Declared as in Valgrind's pub_core_clientstate.h; libcoregrind exports it. */
extern Bool VG_(resolve_filename)(Int descriptor, const HChar **name);

enum { FAMILIES = 64, SHARING = 3 };

static ULong processes = 1;
static Bool shared_memory;
static ULong peak_mapped;
static ULong families; /* one bit for each address family */

static Bool starts_with(const HChar *text, const HChar *prefix)
{
	return VG_(strncmp)(text, prefix, VG_(strlen)(prefix)) == 0;
}

static Bool maps_shared_memory(const UWord *arguments)
{
	const HChar *name;

	if (!(arguments[3] & SHARING) || (arguments[3] & SHARING) == VKI_MAP_PRIVATE)
		return False;
	if (arguments[3] & VKI_MAP_ANONYMOUS)
		return True;
	return VG_(resolve_filename)((Int)arguments[4], &name) &&
	       (starts_with(name, "/dev/shm/") || starts_with(name, "/memfd:"));
}

/* Excludes memory that is only reserved: mapped, but not accessible. */
static ULong mapped_bytes(void)
{
	static Addr *starts;
	static Int capacity = 256;
	const UInt client = SkFileC | SkAnonC | SkShmC;
	ULong bytes = 0;
	Int count;

	if (!starts)
		starts = VG_(malloc)("kbbv.segments", (SizeT)capacity * sizeof(*starts));
	while ((count = VG_(am_get_segment_starts)(client, starts, capacity)) < 0) {
		capacity = -2 * count;
		starts = VG_(realloc)("kbbv.segments", starts, (SizeT)capacity * sizeof(*starts));
	}
	for (Int i = 0; i < count; i++) {
		const NSegment *segment = VG_(am_find_nsegment)(starts[i]);

		if (segment->hasR || segment->hasW || segment->hasX)
			bytes += segment->end - segment->start + 1;
	}
	return bytes;
}

static void note_mapping(void)
{
	ULong bytes = mapped_bytes();

	if (bytes > peak_mapped)
		peak_mapped = bytes;
}

void facts_note(UInt number, const UWord *arguments)
{
	switch (number) {
	case __NR_socket:
	case __NR_socketpair:
		if (arguments[0] < FAMILIES)
			families |= 1ULL << arguments[0];
		break;
	case __NR_mmap:
		shared_memory = shared_memory || maps_shared_memory(arguments);
		note_mapping();
		break;
	case __NR_shmat:
		shared_memory = True;
		note_mapping();
		break;
	case __NR_mprotect:
	case __NR_mremap:
	case __NR_brk:
		note_mapping();
		break;
	}
}

void facts_forked(void)
{
	processes++;
}

/* Keeps socket families and shared memory: the child has inherited them. */
void facts_in_child(void)
{
	processes = 1;
	peak_mapped = 0;
}

void facts_write(void)
{
	UInt count = 0;

	note_mapping();
	for (UInt family = 0; family < FAMILIES; family++)
		count += (families >> family) & 1;
	stream_begin(FRAME_FACTS);
	stream_number(threads_ever());
	stream_number(processes);
	stream_number(shared_memory);
	stream_number(peak_mapped);
	stream_number(memory_rows_unseen());
	stream_number(count);
	for (UInt family = 0; family < FAMILIES; family++) {
		if ((families >> family) & 1)
			stream_number(family);
	}
	stream_finish();
}
