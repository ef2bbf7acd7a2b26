/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The program's memory as a sorted table of areas. An area belongs to a mapping, and records
 * which of its pages were ever touched. A system call's mapping may be cut into several areas. An
 * area that is only reserved, so that the program cannot access it yet, belongs to no mapping.
 *
 * A look asks the kernel which pages are present. All pages that are new since the last look are
 * touches of the row that is under way. Adjacent new pages are a run. A run may begin where
 * touched pages end, or end where touched pages begin: this shows in which direction a program
 * goes through its memory.
 */

#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"
#include "kbbv.h"
#include "mapping.h"

enum { STRIP = 4096, COST_OF_AREA = 64, GLANCE = 64 };

/* Larger areas are not watched: one byte for each page would be too much. */
static const SizeT most_watched_pages = 1 << 24;

struct area {
	Addr start;
	Addr end;
	struct mapping *mapping; /* NULL: reserved */
	Bool for_stack;		 /* reserved for a thread's stack */
	UChar *touched;		 /* one byte for each page; NULL: not watched */
	SizeT low;		 /* all pages before `low` and from `high` on were touched */
	SizeT high;
};

static struct area *areas;
static UInt areas_used, areas_capacity;

static SizeT pages_of(const struct area *area)
{
	return (area->end - area->start) / VKI_PAGE_SIZE;
}

/* ---- the table ----------------------------------------------------------------------------- */

/* The first area that ends after the address. */
static UInt first_after(Addr address)
{
	UInt low = 0, high = areas_used;

	while (low < high) {
		UInt middle = (low + high) / 2;

		if (areas[middle].end > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static struct area *make_room(UInt index)
{
	if (areas_used == areas_capacity) {
		areas_capacity = areas_capacity ? 2 * areas_capacity : 256;
		areas = VG_(realloc)("kbbv.areas", areas, areas_capacity * sizeof(*areas));
	}
	VG_(memmove)(areas + index + 1, areas + index, (areas_used - index) * sizeof(*areas));
	areas_used++;
	return areas + index;
}

static void insert(const struct area *area)
{
	*make_room(first_after(area->start)) = *area;
	if (area->mapping)
		area->mapping->areas++;
}

static void watch(struct area *area)
{
	SizeT pages = pages_of(area);

	area->low = 0;
	area->high = 0;
	area->touched = NULL;
	if (pages > most_watched_pages)
		return;
	area->touched = VG_(calloc)("kbbv.touched", pages, 1);
	area->high = pages;
}

static void narrow(struct area *area)
{
	if (!area->touched)
		return;
	while (area->low < area->high && area->touched[area->low])
		area->low++;
	while (area->low < area->high && area->touched[area->high - 1])
		area->high--;
}

static void look_everywhere(struct area *area)
{
	area->low = 0;
	area->high = area->touched ? pages_of(area) : 0;
	narrow(area);
}

/* Splits the area that extends across the address into two. */
static void split_at(Addr address)
{
	UInt index = first_after(address);
	struct area *left, *right;
	SizeT pages;

	if (index == areas_used || areas[index].start >= address)
		return;
	right = make_room(index) + 1;
	left = right - 1;
	*left = *right;
	left->end = right->start = address;
	if (left->mapping)
		left->mapping->areas++;
	if (left->touched) {
		pages = pages_of(right);
		right->touched = VG_(malloc)("kbbv.touched", pages);
		VG_(memcpy)(right->touched, left->touched + pages_of(left), pages);
	}
	look_everywhere(left);
	look_everywhere(right);
}

/* ---- looking ------------------------------------------------------------------------------ */

static void count_run(struct area *area, SizeT begin, SizeT end)
{
	struct touches *touches = &area->mapping->touches;

	touches->pages += end - begin;
	touches->runs++;
	if (begin == 0 || area->touched[begin - 1])
		touches->upward += end - begin;
	else if (end == pages_of(area) || area->touched[end])
		touches->downward += end - begin;
	VG_(memset)(area->touched + begin, 1, end - begin);
	mapping_note_change(area->mapping);
}

/* Compares GLANCE pages at once. Returns how many from here on did not change; at least 1. */
static SizeT unchanged(const UChar *present, const UChar *touched, SizeT count)
{
	SizeT same = 0;

	while (same + GLANCE <= count && VG_(memcmp)(present + same, touched + same, GLANCE) == 0)
		same += GLANCE;
	return same ? same : 1;
}

/* Counts the runs that end in this strip. Returns where the run begins that goes beyond it. */
static SizeT count_runs(struct area *area, SizeT first, SizeT count, const UChar *present,
			SizeT begin)
{
	SizeT step;

	for (SizeT i = 0; i < count; i += step) {
		Bool fresh = present[i] && !area->touched[first + i];

		step = 1;
		if (fresh)
			continue;
		if (begin < first + i)
			count_run(area, begin, first + i);
		step = unchanged(present + i, area->touched + first + i, count - i);
		begin = first + i + step;
	}
	return begin;
}

static void look_at(struct area *area)
{
	UChar present[STRIP];
	SizeT begin = area->low, first;

	for (first = area->low; first < area->high; first += STRIP) {
		SizeT count = area->high - first < STRIP ? area->high - first : STRIP;

		if (!residency_read(area->start + first * VKI_PAGE_SIZE, count,
				    area->mapping->of_file, present))
			break;
		begin = count_runs(area, first, count, present, begin);
	}
	if (first > area->high)
		first = area->high;
	if (begin < first)
		count_run(area, begin, first);
	narrow(area);
}

void mappings_look(Addr start, Addr end)
{
	for (UInt i = first_after(start); i < areas_used && areas[i].start < end; i++) {
		if (areas[i].mapping && areas[i].low < areas[i].high)
			look_at(&areas[i]);
	}
}

ULong mappings_cost_of_look(void)
{
	ULong cost = 0;

	for (UInt i = 0; i < areas_used; i++) {
		if (areas[i].mapping && areas[i].low < areas[i].high)
			cost += areas[i].high - areas[i].low + COST_OF_AREA;
	}
	return cost;
}

/* ---- coming and going --------------------------------------------------------------------- */

static void add_area(struct mapping *mapping, Addr start, Addr end)
{
	struct area area = {.start = start, .end = end, .mapping = mapping};

	watch(&area);
	insert(&area);
}

struct mapping *mappings_add(UInt thread, Addr start, Addr end, const struct birth *birth)
{
	struct mapping *mapping;

	mappings_remove(thread, start, end);
	mapping = mapping_new(thread, end - start, birth);
	add_area(mapping, start, end);
	return mapping;
}

void mappings_extend(UInt thread, struct mapping *mapping, Addr start, Addr end)
{
	mappings_remove(thread, start, end);
	add_area(mapping, start, end);
	mapping_tell_size(thread, mapping, mapping->bytes + (end - start));
}

void mappings_reserve(Addr start, Addr end, Bool for_stack)
{
	struct area area = {.start = start, .end = end, .for_stack = for_stack};

	insert(&area);
}

void mappings_open(UInt thread, Addr start, Addr end, const struct birth *birth)
{
	split_at(start);
	split_at(end);
	for (UInt i = first_after(start); i < areas_used && areas[i].start < end; i++) {
		struct area *area = &areas[i];
		struct birth own = *birth;

		if (area->mapping)
			continue;
		own.kind = area->for_stack ? THREAD_STACK : birth->kind;
		area->mapping = mapping_new(thread, area->end - area->start, &own);
		area->mapping->areas = 1;
		watch(area);
	}
}

static ULong touched_pages(const struct area *area)
{
	ULong pages = 0;

	for (SizeT page = 0; area->touched && page < pages_of(area); page++)
		pages += area->touched[page];
	return pages;
}

static void release(const struct area *area)
{
	ULong pages = touched_pages(area);

	if (pages == 0)
		return;
	area->mapping->touches.released += pages;
	mapping_note_change(area->mapping);
}

static void drop(UInt thread, UInt index)
{
	struct area gone = areas[index];

	areas_used--;
	VG_(memmove)(areas + index, areas + index + 1, (areas_used - index) * sizeof(*areas));
	if (!gone.mapping)
		return;
	release(&gone);
	VG_(free)(gone.touched);
	mapping_leave(thread, gone.mapping);
}

void mappings_remove(UInt thread, Addr start, Addr end)
{
	UInt index;

	split_at(start);
	split_at(end);
	index = first_after(start);
	while (index < areas_used && areas[index].start < end)
		drop(thread, index);
}

void mappings_discard(Addr start, Addr end)
{
	split_at(start);
	split_at(end);
	for (UInt i = first_after(start); i < areas_used && areas[i].start < end; i++) {
		struct area *area = &areas[i];

		if (!area->mapping || !area->touched)
			continue;
		release(area);
		VG_(memset)(area->touched, 0, pages_of(area));
		look_everywhere(area);
	}
}

/* Removes the area and inserts it at its new address, where there is no other area. */
static void shift(UInt index, Addr from, Addr to)
{
	struct area area = areas[index];

	areas_used--;
	VG_(memmove)(areas + index, areas + index + 1, (areas_used - index) * sizeof(*areas));
	if (area.mapping)
		area.mapping->areas--;
	area.start = area.start - from + to;
	area.end = area.end - from + to;
	insert(&area);
}

static struct mapping *mapping_before(Addr end)
{
	UInt index = first_after(end - 1);

	return index < areas_used && areas[index].start < end ? areas[index].mapping : NULL;
}

void mappings_move(UInt thread, Addr from, SizeT old_bytes, Addr to, SizeT new_bytes)
{
	SizeT kept = old_bytes < new_bytes ? old_bytes : new_bytes;
	struct mapping *mapping;
	UInt index;

	if (new_bytes < old_bytes)
		mappings_remove(thread, from + new_bytes, from + old_bytes);
	if (to != from) {
		mappings_remove(thread, to, to + new_bytes);
		split_at(from);
		split_at(from + kept);
		while ((index = first_after(from)) < areas_used && areas[index].start < from + kept)
			shift(index, from, to);
	}
	mapping = mapping_before(to + kept);
	if (mapping && new_bytes > old_bytes)
		mappings_extend(thread, mapping, to + old_bytes, to + new_bytes);
}

/* False if an earlier area has the same mapping, which is then already recorded. */
static Bool comes_first(UInt index)
{
	for (UInt i = 0; i < index; i++) {
		if (areas[i].mapping == areas[index].mapping)
			return False;
	}
	return True;
}

void mappings_forked(UInt thread)
{
	mapping_forget_all();
	for (UInt i = 0; i < areas_used; i++) {
		if (areas[i].mapping && (areas[i].mapping->areas == 1 || comes_first(i)))
			mapping_tell_again(thread, areas[i].mapping);
	}
}
