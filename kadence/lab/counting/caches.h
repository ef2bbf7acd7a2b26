/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Models of caches through which a guest's instructions come: for each geometry of the first level,
 * one of the second level and a translation buffer, with the least recently used way replaced.
 *
 * Lines are told apart by the host's addresses of the guest's memory, as by physical addresses: the
 * memory is aligned to far more than a way of any cache here. The first level is indexed by virtual
 * addresses, so that its misses do not depend on the pages that the guest's kernel finds free.
 */
#ifndef KADENCE_LAB_CACHES_H
#define KADENCE_LAB_CACHES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define LINE_LOG 6 /* 64 bytes */
#define MODELS 4

/* A line of code. */
struct line {
	uint64_t address; /* of the guest, where it was seen first */
	uint64_t place;	  /* of the host, divided by a line's bytes */
	uint64_t fetches, misses[MODELS];
	/* Of the first geometry. */
	struct line *evictor; /* NULL unless the line was in the cache and had to leave */
	struct eviction *evictions;
	struct line *next;
};

/* How often a line was missed because another one had taken its place. */
struct eviction {
	struct line *by;
	uint64_t count;
	struct eviction *next;
};

/* Adds geometries from a text, such as 32768/8+49152/12: bytes and ways. */
bool caches_read(const char *geometries);

/* The line of an instruction. Aborts without memory. */
struct line *line_at(uint64_t address, uint64_t host);

/* The processor fetches from the line. */
void line_fetched(struct line *line);

/* Lines of text:
 *	cache BYTES WAYS MISSES SECOND-LEVEL-MISSES TRANSLATION-MISSES
 *	line ADDRESS PAGE FETCHES MISSES...
 *	evicted ADDRESS BY COUNT
 * PAGE is the number of the line's page in the host. The last are of the first geometry. The first
 * miss of a line has no evictor.
 */
void caches_print(FILE *file);

#endif
