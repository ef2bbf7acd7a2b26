/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Takes events out of the kernel's rings, and keeps them until the end. */
#ifndef KADENCE_OBSERVE_EVENTS_H
#define KADENCE_OBSERVE_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kadapt_probe.h"

struct events {
	const struct kadapt_probe_pool *pool;
	uint64_t *taken;   /* by ring: bytes of all events before the next */
	uint64_t *awaited; /* by ring: the event that was missing the last time, + 1 */
	struct kadapt_probe_event *kept;
	size_t count, room;
	uint64_t lost;
};

/* Returns false if there is no memory. */
bool events_begin(struct events *events, const struct kadapt_probe_pool *pool);

/*
 * Takes what the rings have. An event that is missing is awaited once, and then left out.
 * Returns false if there is no memory.
 */
bool events_take(struct events *events);

/*
 * Writes records of 32 bytes, little-endian: u64 begin, u64 end, u32 what, s32 task, u32 processor,
 * u32 0. In the first one `begin` is the number of events that were overwritten before they were
 * taken, or of which there were too many. Returns false with errno.
 */
bool events_write(const struct events *events, const char *path);

#endif
