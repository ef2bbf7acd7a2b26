// SPDX-License-Identifier: MIT
/* The callers of all these functions hold the lock. */
#include "kprofile.h"

#include <string.h>

enum { PIECE = 64 }; /* counters; once a piece differs, further pieces are not compared */

struct loaded {
	const struct unit *unit; /* null: the unit's library was closed */
	const uint32_t *map;
	const uint32_t *bodies;
	int64_t place;
	size_t first; /* index of its first counter among all units' */
};

static struct loaded *units;
static size_t unit_count, unit_capacity, counter_count;
static int64_t *values;
static uint64_t *totals; /* by counter: the increases of all threads */
static uint64_t executed;
static size_t value_capacity, total_capacity;

uint64_t counts_executed(void)
{
	return executed;
}

void counts_forget(void)
{
	executed = 0;
	if (totals)
		memset(totals, 0, total_capacity * sizeof(*totals));
}

static void add_sum(const uint32_t **words, int64_t *result)
{
	const uint32_t *terms = *words + 1, *end = terms + **words;

	*result = 0;
	for (; terms < end; terms++)
		*result += *terms & 1 ? -values[*terms >> 1] : values[*terms >> 1];
	*words = end;
}

static bool make_room(size_t wanted)
{
	if (wanted > value_capacity) {
		values = memory_take(2 * wanted * sizeof(*values));
		value_capacity = values ? 2 * wanted : 0;
	}
	return values != NULL;
}

static const volatile uint64_t *counters_of(const struct thread *thread,
					    const struct loaded *loaded)
{
	return (const volatile uint64_t *)(thread->pointer + loaded->place);
}

/* Whether any counter has changed. Compares in pairs: counters are many, and few change. */
static bool is_changed(const volatile uint64_t *counters, const uint64_t *seen, uint32_t count)
{
	typedef uint64_t pair __attribute__((vector_size(16), aligned(8)));
	uint32_t number = 0;

	while (number < count) {
		const uint32_t end = count - number < PIECE ? count : number + PIECE;
		pair different = {0};

		for (; number + 1 < end; number += 2)
			different |= *(const volatile pair *)&counters[number] ^
				     *(const pair *)&seen[number];
		if (number < end) {
			different[0] |= counters[number] ^ seen[number];
			number++;
		}
		if (different[0] | different[1])
			return true;
	}
	return false;
}

/* Sets `values` to the increases of one body's counters, of which the first has that index. */
static void take_counters(const volatile uint64_t *counters, uint64_t *seen, size_t first,
			  uint32_t count)
{
	for (uint32_t number = 0; number < count; number++) {
		uint64_t now = counters[number];

		values[number] = (int64_t)(now - seen[number]);
		totals[first + number] += now - seen[number];
		seen[number] = now;
	}
}

/* Sets the values that follow from the first `count`. Returns what is behind the sums. */
static const uint32_t *add_sums(const uint32_t *words, uint32_t count, uint32_t sums)
{
	for (uint32_t number = 0; number < sums; number++)
		add_sum(&words, &values[count + number]);
	return words;
}

static void enter(struct thread *thread, uint32_t block, int64_t times)
{
	if (!times)
		return;
	thread->entered[block] += times;
	thread->executed += (uint64_t)(times * blocks_at(block)->instructions);
	bit_set(thread->touched, block);
}

static void look_at_body(struct thread *thread, const struct loaded *loaded, const uint32_t *words)
{
	const volatile uint64_t *counters = counters_of(thread, loaded) + words[0];
	const size_t first = loaded->first + words[0];
	uint64_t *seen = thread->seen + first;
	const uint32_t count = words[1], sums = words[2];
	int64_t entered;

	if (!is_changed(counters, seen, count) || !make_room((size_t)count + sums))
		return;
	take_counters(counters, seen, first, count);
	words = add_sums(words + 3, count, sums);
	for (uint32_t parts = *words++; parts; parts--) {
		const uint32_t block = loaded->map[*words++];

		add_sum(&words, &entered);
		enter(thread, block, entered);
	}
}

static void look_at_unit(struct thread *thread, const struct loaded *loaded)
{
	const uint32_t *words = loaded->bodies;

	if (!is_changed(counters_of(thread, loaded), thread->seen + loaded->first,
			loaded->unit->counter_count))
		return;
	for (uint32_t bodies = *words++; bodies; bodies--) {
		look_at_body(thread, loaded, words + 1);
		words += 1 + *words;
	}
}

static bool grow_seen(struct thread *thread)
{
	if (thread->seen_capacity < counter_count) {
		thread->seen =
		    memory_grow(thread->seen, thread->seen_capacity * sizeof(*thread->seen),
				counter_count * sizeof(*thread->seen));
		thread->seen_capacity = thread->seen ? counter_count : 0;
	}
	return thread->seen;
}

static bool grow_entered(struct thread *thread)
{
	const size_t before = thread->entered_capacity, wanted = blocks_count();

	if (before < wanted) {
		thread->entered = memory_grow(thread->entered, before * sizeof(*thread->entered),
					      wanted * sizeof(*thread->entered));
		thread->touched =
		    memory_grow(thread->touched, bits_size(before), bits_size(wanted));
		thread->entered_capacity = thread->entered && thread->touched ? wanted : 0;
	}
	return thread->entered_capacity;
}

void counts_look_at(struct thread *thread)
{
	const uint64_t before = thread->executed;

	if (!thread->pointer || !counter_count || !grow_seen(thread) || !grow_entered(thread))
		return;
	for (const struct loaded *loaded = units; loaded < units + unit_count; loaded++)
		if (loaded->unit)
			look_at_unit(thread, loaded);
	executed += thread->executed - before;
}

void counts_look(void)
{
	for (struct thread *thread = threads_first(); thread; thread = thread->next)
		counts_look_at(thread);
}

static const uint32_t *skip_parts(const uint32_t *words)
{
	for (uint32_t parts = *words++; parts; parts--)
		words += 2 + words[1];
	return words;
}

/* Adds what one body's counters are in all to the blocks that are named for the layout. */
static bool add_for_layout(const struct loaded *loaded, const uint32_t *words, int64_t *entered)
{
	const uint32_t first = words[0], count = words[1], sums = words[2];
	int64_t times;

	if (!make_room((size_t)count + sums))
		return false;
	memcpy(values, totals + loaded->first + first, count * sizeof(*values));
	words = skip_parts(add_sums(words + 3, count, sums));
	for (uint32_t parts = *words++; parts; parts--) {
		const uint32_t block = *words++;

		add_sum(&words, &times);
		entered[block] += times;
	}
	return true;
}

static void write_layout_of(const struct loaded *loaded)
{
	const uint32_t *words = loaded->bodies;
	int64_t *entered = layout_begin(loaded->unit);

	for (uint32_t bodies = *words++; bodies && entered; bodies--) {
		if (!add_for_layout(loaded, words + 1, entered))
			return;
		words += 1 + *words;
	}
	if (entered)
		layout_write(loaded->unit, (size_t)(loaded - units), entered);
}

void counts_write_layout(void)
{
	for (const struct loaded *loaded = units; loaded < units + unit_count; loaded++)
		if (loaded->unit)
			write_layout_of(loaded);
}

static bool make_room_for_unit(void)
{
	size_t wanted = unit_capacity ? 2 * unit_capacity : 64;
	struct loaded *larger;

	if (unit_count < unit_capacity)
		return true;
	larger = memory_grow(units, unit_count * sizeof(*units), wanted * sizeof(*units));
	if (!larger)
		return false;
	units = larger;
	unit_capacity = wanted;
	return true;
}

static bool make_room_for_totals(size_t wanted)
{
	uint64_t *larger;

	if (wanted <= total_capacity)
		return true;
	larger =
	    memory_grow(totals, total_capacity * sizeof(*totals), 2 * wanted * sizeof(*totals));
	if (!larger)
		return false;
	totals = larger;
	total_capacity = 2 * wanted;
	return true;
}

void units_add(const struct unit *unit, const char *object)
{
	const uint32_t *blocks = unit->words + 1 + FUNCTION_WORDS * unit->words[0];
	struct loaded loaded = {unit, NULL, blocks + 1 + BLOCK_WORDS * *blocks, unit->place(),
				counter_count};

	if (unit->version != TABLES_VERSION || !make_room_for_unit() ||
	    !make_room_for_totals(counter_count + unit->counter_count))
		return;
	loaded.map = blocks_add(unit, object);
	if (!loaded.map)
		return;
	units[unit_count++] = loaded;
	counter_count += unit->counter_count;
}

void units_remove(const struct unit *begin, const struct unit *end)
{
	for (struct loaded *loaded = units; loaded < units + unit_count; loaded++)
		if (loaded->unit >= begin && loaded->unit < end) {
			write_layout_of(loaded);
			loaded->unit = NULL;
		}
}
