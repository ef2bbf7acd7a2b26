// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "caches.h"

#define PAGE_LOG (12 - LINE_LOG) /* a page's number from a line's */
#define MOST_WAYS 64
#define LINE_BUCKETS (1 << 18)

enum { SECOND_BYTES = 2 << 20, SECOND_WAYS = 16, TRANSLATIONS = 64 };

/* A set's ways lie side by side, the one used last first. */
struct cache {
	unsigned int ways, sets;
	struct line **lines;
	uint64_t misses;
};

struct translations {
	uint64_t pages[TRANSLATIONS]; /* the one used last first */
	uint64_t misses;
};

struct model {
	uint64_t bytes;
	struct cache first, second;
	struct translations translations;
};

static struct model models[MODELS];
static unsigned int model_count;
static struct line *buckets[LINE_BUCKETS];

static bool set_up(struct cache *cache, uint64_t bytes, unsigned int ways)
{
	const uint64_t sets = ways ? (bytes >> LINE_LOG) / ways : 0;

	if (!sets || sets & (sets - 1) || sets * ways << LINE_LOG != bytes || ways > MOST_WAYS)
		return false;
	cache->ways = ways;
	cache->sets = (unsigned int)sets;
	cache->lines = calloc(sets * ways, sizeof(struct line *));
	return cache->lines;
}

static bool add(uint64_t bytes, unsigned int ways)
{
	struct model *model = &models[model_count];

	if (model_count == MODELS || !set_up(&model->first, bytes, ways) ||
	    !set_up(&model->second, SECOND_BYTES, SECOND_WAYS))
		return false;
	model->bytes = bytes;
	model_count++;
	return true;
}

bool caches_read(const char *geometries)
{
	uint64_t bytes;
	unsigned int ways;
	int used;

	while (sscanf(geometries, "%" SCNu64 "/%u%n", &bytes, &ways, &used) == 2) {
		if (!add(bytes, ways))
			return false;
		geometries += used;
		if (!*geometries)
			return true;
		if (*geometries++ != '+')
			return false;
	}
	return false;
}

struct line *line_at(uint64_t address, uint64_t host)
{
	const uint64_t place = host >> LINE_LOG;
	struct line **bucket = &buckets[(place ^ place >> 18) & (LINE_BUCKETS - 1)];
	struct line *line = *bucket;

	while (line && line->place != place)
		line = line->next;
	if (line)
		return line;
	line = calloc(1, sizeof(*line));
	if (!line)
		abort();
	line->address = address >> LINE_LOG << LINE_LOG;
	line->place = place;
	line->next = *bucket;
	*bucket = line;
	return line;
}

/* Returns whether the line was there. The address chooses the set. The last way's line leaves. */
static bool fetch(struct cache *cache, struct line *line, uint64_t address, struct line **left)
{
	struct line **set = &cache->lines[(address & (cache->sets - 1)) * cache->ways];
	unsigned int way = 0;
	bool is_there;

	while (way < cache->ways - 1 && set[way] != line)
		way++;
	is_there = set[way] == line;
	*left = is_there ? NULL : set[way];
	memmove(set + 1, set, way * sizeof(*set));
	set[0] = line;
	cache->misses += !is_there;
	return is_there;
}

static void translate(struct translations *buffer, uint64_t page)
{
	unsigned int entry = 0;

	while (entry < TRANSLATIONS - 1 && buffer->pages[entry] != page)
		entry++;
	buffer->misses += buffer->pages[entry] != page;
	memmove(buffer->pages + 1, buffer->pages, entry * sizeof(page));
	buffer->pages[0] = page;
}

static void count_eviction(struct line *line)
{
	struct eviction *found = line->evictions;

	while (found && found->by != line->evictor)
		found = found->next;
	if (!found) {
		found = calloc(1, sizeof(*found));
		if (!found)
			abort();
		found->by = line->evictor;
		found->next = line->evictions;
		line->evictions = found;
	}
	found->count++;
}

static void fetch_through(unsigned int number, struct line *line)
{
	struct model *model = &models[number];
	struct line *left;

	translate(&model->translations, line->place >> PAGE_LOG);
	if (fetch(&model->first, line, line->address >> LINE_LOG, &left))
		return;
	line->misses[number]++;
	if (!number && line->evictor)
		count_eviction(line);
	if (!number && left)
		left->evictor = line;
	fetch(&model->second, line, line->place, &left);
}

void line_fetched(struct line *line)
{
	line->fetches++;
	for (unsigned int number = 0; number < model_count; number++)
		fetch_through(number, line);
}

static void print_line(FILE *file, const struct line *line)
{
	fprintf(file, "line %" PRIx64 " %" PRIx64 " %" PRIu64, line->address,
		line->place >> PAGE_LOG, line->fetches);
	for (unsigned int number = 0; number < model_count; number++)
		fprintf(file, " %" PRIu64, line->misses[number]);
	fputc('\n', file);
	for (const struct eviction *each = line->evictions; each; each = each->next)
		fprintf(file, "evicted %" PRIx64 " %" PRIx64 " %" PRIu64 "\n", line->address,
			each->by->address, each->count);
}

void caches_print(FILE *file)
{
	for (unsigned int number = 0; number < model_count; number++) {
		const struct model *model = &models[number];

		fprintf(file, "cache %" PRIu64 " %u %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
			model->bytes, model->first.ways, model->first.misses, model->second.misses,
			model->translations.misses);
	}
	for (unsigned int bucket = 0; model_count && bucket < LINE_BUCKETS; bucket++)
		for (const struct line *line = buckets[bucket]; line; line = line->next)
			if (line->fetches)
				print_line(file, line);
}
