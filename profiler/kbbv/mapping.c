/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A mapping's life, as recorded in the stream. */

#include "pub_tool_mallocfree.h"
#include "kbbv.h"
#include "mapping.h"

static struct mapping **changed;
static UInt changed_used, changed_capacity;
static UInt mappings_ever;

void mapping_note_change(struct mapping *mapping)
{
	if (mapping->changed)
		return;
	mapping->changed = True;
	if (changed_used == changed_capacity) {
		changed_capacity = changed_capacity ? 2 * changed_capacity : 64;
		changed =
		    VG_(realloc)("kbbv.changed", changed, changed_capacity * sizeof(*changed));
	}
	changed[changed_used++] = mapping;
}

static void tell_change(struct mapping *mapping)
{
	stream_number(mapping->id);
	stream_number(mapping->touches.pages);
	stream_number(mapping->touches.runs);
	stream_number(mapping->touches.upward);
	stream_number(mapping->touches.downward);
	stream_number(mapping->touches.released);
	mapping->touches = (struct touches){0};
	mapping->changed = False;
}

void mappings_tell_touches(UInt thread)
{
	if (changed_used == 0)
		return;
	stream_begin(FRAME_TOUCHES);
	stream_number(thread);
	stream_number(changed_used);
	for (UInt i = 0; i < changed_used; i++)
		tell_change(changed[i]);
	stream_finish();
	changed_used = 0;
}

void mapping_tell_size(UInt thread, struct mapping *mapping, ULong bytes)
{
	mapping->bytes = bytes;
	stream_begin(FRAME_GROWN);
	stream_number(thread);
	stream_number(mapping->id);
	stream_number(bytes);
	stream_number(kbbv_request);
	stream_finish();
}

void mapping_leave(UInt thread, struct mapping *mapping)
{
	if (--mapping->areas > 0)
		return;
	mappings_tell_touches(thread);
	stream_begin(FRAME_UNMAPPED);
	stream_number(thread);
	stream_number(mapping->id);
	stream_finish();
	VG_(free)(mapping);
}

static void tell(UInt thread, const struct mapping *mapping)
{
	stream_begin(FRAME_MAPPING);
	stream_number(thread);
	stream_number(mapping->id);
	stream_number(mapping->birth.kind);
	stream_number(mapping->birth.unreserved);
	stream_number(mapping->birth.site);
	stream_number(mapping->bytes);
	stream_number(mapping->birth.request);
	stream_finish();
}

struct mapping *mapping_new(UInt thread, ULong bytes, const struct birth *birth)
{
	struct mapping *mapping = VG_(calloc)("kbbv.mapping", 1, sizeof(*mapping));

	mapping->id = mappings_ever++;
	mapping->of_file = birth->kind == PRIVATE_FILE || birth->kind == SHARED_FILE;
	mapping->birth = *birth;
	mapping->bytes = bytes;
	tell(thread, mapping);
	return mapping;
}

void mapping_forget_all(void)
{
	for (UInt i = 0; i < changed_used; i++) {
		changed[i]->changed = False;
		changed[i]->touches = (struct touches){0};
	}
	changed_used = 0;
	mappings_ever = 0;
}

void mapping_tell_again(UInt thread, struct mapping *mapping)
{
	mapping->id = mappings_ever++;
	tell(thread, mapping);
}
