// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <stdlib.h>

#include "events.h"

#define EVENT sizeof(struct kadapt_probe_event)
#define MOST_AHEAD 64	    /* events that other tasks have written meanwhile */
#define MOST_KEPT (1 << 23) /* 256 MiB: the command needs memory, too */

bool events_begin(struct events *events, const struct kadapt_probe_pool *pool)
{
	*events = (struct events){
	    .pool = pool,
	    .taken = calloc(pool->processors, sizeof(*events->taken)),
	    .awaited = calloc(pool->processors, sizeof(*events->awaited)),
	};
	return events->taken && events->awaited;
}

static const struct kadapt_probe_event *event_at(const struct events *events, unsigned int ring,
						 uint64_t at)
{
	const char *rings = (const char *)events->pool + events->pool->events_at;
	uint64_t bytes = events->pool->events_bytes;

	return (const void *)(rings + ring * bytes + (at & (bytes - 1)));
}

static uint64_t sequence_at(const struct events *events, unsigned int ring, uint64_t at)
{
	return __atomic_load_n(&event_at(events, ring, at)->sequence, __ATOMIC_ACQUIRE);
}

static bool keep(struct events *events, const struct kadapt_probe_event *event, unsigned int ring)
{
	if (events->count == MOST_KEPT) {
		events->lost++;
		return true;
	}
	if (events->count == events->room) {
		size_t room = events->room ? 2 * events->room : 1 << 16;
		struct kadapt_probe_event *more = reallocarray(events->kept, room, EVENT);

		if (!more)
			return false;
		events->kept = more;
		events->room = room;
	}
	events->kept[events->count] = *event;
	events->kept[events->count++].sequence = ring;
	return true;
}

/* Whether one of the next events is there, though this one is not. */
static bool is_overtaken(const struct events *events, unsigned int ring, uint64_t at)
{
	for (int ahead = 1; ahead <= MOST_AHEAD; ahead++)
		if (sequence_at(events, ring, at + ahead * EVENT) == at + ahead * EVENT + 1)
			return true;
	return false;
}

/* The ring was faster: go on half a ring behind what it wrote last. */
static void catch_up(struct events *events, unsigned int ring, uint64_t sequence)
{
	uint64_t from = events->taken[ring];

	events->taken[ring] = sequence - 1 - events->pool->events_bytes / 2;
	events->lost += (events->taken[ring] - from) / EVENT;
}

static bool take_ring(struct events *events, unsigned int ring)
{
	uint64_t *at = &events->taken[ring];

	for (;;) {
		struct kadapt_probe_event event = *event_at(events, ring, *at);
		uint64_t sequence = sequence_at(events, ring, *at);

		if (sequence > *at + 1) {
			catch_up(events, ring, sequence);
		} else if (sequence == *at + 1) {
			if (!keep(events, &event, ring))
				return false;
			*at += EVENT;
		} else if (!is_overtaken(events, ring, *at)) {
			return true;
		} else if (events->awaited[ring] != *at + 1) {
			events->awaited[ring] = *at + 1;
			return true;
		} else {
			*at += EVENT;
		}
	}
}

bool events_take(struct events *events)
{
	for (unsigned int ring = 0; ring < events->pool->processors; ring++)
		if (!take_ring(events, ring))
			return false;
	return true;
}

bool events_write(const struct events *events, const char *path)
{
	struct kadapt_probe_event first = {.begin = events->lost};
	FILE *out = fopen(path, "w");

	if (!out)
		return false;
	fwrite(&first, EVENT, 1, out);
	fwrite(events->kept, EVENT, events->count, out);
	return !(ferror(out) | fclose(out));
}
