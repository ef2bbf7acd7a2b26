// SPDX-License-Identifier: MIT
/* All with the lock held. */
#include "kprofile.h"

#include <string.h>

struct loaded {
	const struct unit *unit; /* null: its library was closed */
	const uint32_t *map;
	const uint32_t *bodies;
	int64_t place;
	size_t first; /* of its counters among all units' */
};

static struct thread *threads, *ended;
static uint32_t thread_numbers;
static struct loaded *units;
static size_t unit_count, unit_capacity, counter_count;
static int64_t *values;
static uint64_t executed;
static size_t value_capacity;

struct thread *threads_first(void)
{
	return threads;
}

uint64_t counts_executed(void)
{
	return executed;
}

uint32_t threads_total(void)
{
	return thread_numbers;
}

static char *own_pointer(void)
{
	return __builtin_thread_pointer();
}

static struct thread *own_thread(void)
{
	for (struct thread *thread = threads; thread; thread = thread->next)
		if (thread->pointer == own_pointer())
			return thread;
	return NULL;
}

/* A place that another thread left is as good as new: all it counted is in a row. */
static struct thread *take_thread(void)
{
	struct thread *thread = ended;

	if (!thread)
		return memory_take(sizeof(*thread));
	ended = thread->next;
	if (thread->seen)
		memset(thread->seen, 0, thread->seen_capacity * sizeof(*thread->seen));
	if (thread->entered)
		memset(thread->entered, 0, thread->entered_capacity * sizeof(*thread->entered));
	return thread;
}

void thread_begin(void)
{
	struct thread *thread = own_thread() ? NULL : take_thread();
	struct thread **last = &threads;

	if (!thread)
		return;
	thread->pointer = own_pointer();
	thread->number = ++thread_numbers;
	thread->executed = thread->executed_before = 0;
	thread->row_start = executed;
	thread->row_end = interval_length();
	thread->next = NULL;
	while (*last)
		last = &(*last)->next;
	*last = thread;
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

/* Whether any of them is not what was seen. In pairs: most units' never are, and there are many. */
static bool is_changed(const volatile uint64_t *counters, const uint64_t *seen, uint32_t count)
{
	typedef uint64_t pair __attribute__((vector_size(16), aligned(8)));
	pair different = {0};
	uint32_t number = 0;

	for (; number + 1 < count; number += 2)
		different |=
		    *(const volatile pair *)&counters[number] ^ *(const pair *)&seen[number];
	if (number < count)
		different[0] |= counters[number] ^ seen[number];
	return (different[0] | different[1]) != 0;
}

/* What the counters of one body were increased by, as values; false if by nothing. */
static bool take_counters(const volatile uint64_t *counters, uint64_t *seen, uint32_t count)
{
	bool any = false;

	for (uint32_t number = 0; number < count; number++) {
		uint64_t now = counters[number];

		values[number] = (int64_t)(now - seen[number]);
		seen[number] = now;
		any |= values[number] != 0;
	}
	return any;
}

static void look_at_body(struct thread *thread, const struct loaded *loaded, const uint32_t *words)
{
	const uint32_t first = words[0], count = words[1], sums = words[2];
	int64_t entered;

	if (!make_room((size_t)count + sums) ||
	    !take_counters(counters_of(thread, loaded) + first,
			   thread->seen + loaded->first + first, count))
		return;
	words += 3;
	for (uint32_t number = 0; number < sums; number++)
		add_sum(&words, &values[count + number]);
	for (uint32_t parts = *words++; parts; parts--) {
		const uint32_t block = loaded->map[*words++];

		add_sum(&words, &entered);
		thread->entered[block] += entered;
		thread->executed += (uint64_t)(entered * blocks_at(block)->instructions);
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

static bool grow(struct thread *thread)
{
	if (thread->seen_capacity < counter_count) {
		thread->seen =
		    memory_grow(thread->seen, thread->seen_capacity * sizeof(*thread->seen),
				counter_count * sizeof(*thread->seen));
		thread->seen_capacity = thread->seen ? counter_count : 0;
	}
	if (thread->entered_capacity < blocks_count()) {
		thread->entered = memory_grow(thread->entered,
					      thread->entered_capacity * sizeof(*thread->entered),
					      blocks_count() * sizeof(*thread->entered));
		thread->entered_capacity = thread->entered ? blocks_count() : 0;
	}
	return thread->seen && thread->entered;
}

static void look_at(struct thread *thread)
{
	const uint64_t before = thread->executed;

	if (!thread->pointer || !counter_count || !grow(thread))
		return;
	for (const struct loaded *loaded = units; loaded < units + unit_count; loaded++)
		if (loaded->unit)
			look_at_unit(thread, loaded);
	executed += thread->executed - before;
}

/* Those that ended before the last row have nothing left to say. */
static void drop_ended(void)
{
	struct thread **link = &threads;

	while (*link) {
		struct thread *thread = *link;

		if (thread->pointer) {
			link = &thread->next;
			continue;
		}
		*link = thread->next;
		thread->next = ended;
		ended = thread;
	}
}

void counts_look(void)
{
	for (struct thread *thread = threads; thread; thread = thread->next)
		look_at(thread);
}

void thread_end(void)
{
	struct thread *thread = own_thread();

	if (!thread)
		return;
	look_at(thread);
	thread->pointer = NULL;
}

void threads_forget_ended(void)
{
	drop_ended();
}

void threads_forget_others(void)
{
	counts_look();
	for (struct thread *thread = threads; thread; thread = thread->next) {
		if (thread->pointer != own_pointer())
			thread->pointer = NULL;
		else
			thread->number = 1;
		thread->executed = thread->executed_before = thread->row_start = 0;
		thread->row_end = interval_length();
		if (thread->entered)
			memset(thread->entered, 0,
			       thread->entered_capacity * sizeof(*thread->entered));
	}
	drop_ended();
	executed = 0;
	thread_numbers = 1;
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

void units_add(const struct unit *unit, const char *object)
{
	const uint32_t *blocks = unit->words + 1 + 5 * unit->words[0];
	struct loaded loaded = {unit, NULL, blocks + 1 + 4 * *blocks, unit->place(), counter_count};

	if (unit->version != TABLES_VERSION || !make_room_for_unit())
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
		if (loaded->unit >= begin && loaded->unit < end)
			loaded->unit = NULL;
}
