// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>
#include <stdbool.h>

#include "paths.h"

#define MOST_SHIFT 20
#define MOST (1 << MOST_SHIFT)
#define TABLE (2 * MOST)

static const char *const root_names[ROOTS] = {"others", "command", "interrupts"};
static struct path roots[SECTIONS][ROOTS];
static struct path paths[MOST];
static struct path *table[TABLE];
static size_t count;
static uint64_t dropped;

struct path *paths_root(int section, enum root root)
{
	return &roots[section][root];
}

static size_t slot_of(const struct path *parent, const struct function *function)
{
	uint64_t key = (uintptr_t)parent * 31 + (uintptr_t)function;

	return (key * 0x9e3779b97f4a7c15ULL) >> (63 - MOST_SHIFT);
}

struct path *paths_below(struct path *parent, const struct function *function)
{
	size_t at = slot_of(parent, function);

	for (; table[at]; at = (at + 1) % TABLE)
		if (table[at]->parent == parent && table[at]->function == function)
			return table[at];
	if (count == MOST) {
		dropped++;
		return parent;
	}
	table[at] = &paths[count++];
	*table[at] = (struct path){.parent = parent, .function = function};
	return table[at];
}

static bool is_root(const struct path *path)
{
	return !path->parent;
}

/* Roots are numbered behind all others. */
static size_t number_of(const struct path *path)
{
	return is_root(path) ? MOST + (size_t)(path - &roots[0][0]) : (size_t)(path - paths);
}

static int section_of(const struct path *path)
{
	while (!is_root(path))
		path = path->parent;
	return (int)((path - &roots[0][0]) / ROOTS);
}

static void print(FILE *file, const struct path *path, const char *name)
{
	fprintf(file, "%d %zu %zd %s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", section_of(path),
		number_of(path), is_root(path) ? -1 : (ssize_t)number_of(path->parent), name,
		path->calls, path->own, path->waited);
}

void paths_print(FILE *file)
{
	fprintf(file, "dropped %" PRIu64 "\n", dropped);
	for (int section = 1; section < SECTIONS; section++)
		for (int root = 0; root < ROOTS; root++)
			print(file, &roots[section][root], root_names[root]);
	for (size_t i = 0; i < count; i++)
		if (section_of(&paths[i]))
			print(file, &paths[i], paths[i].function->name);
}
