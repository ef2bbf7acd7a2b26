// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "functions.h"

#define LINE_BYTES 600
#define SWITCH "__switch_to_asm"

struct function function_unknown = {.name = "-"};
struct function function_stay = {.name = "+"};

struct function *function_switch;

static struct function *functions;
static size_t count;

static const struct {
	const char *name;
	enum meaning meaning;
} meanings[] = {
    {"common_interrupt", MEANS_INTERRUPT}, {"exc_nmi", MEANS_INTERRUPT},
    {"wake_up_new_task", MEANS_FORK},	   {"ret_from_fork", MEANS_BIRTH},
    {"kthread", MEANS_KERNEL_TASK},
};

/* The system's vectors are interrupts, too. */
#define VECTOR "sysvec_"

static enum meaning meaning_of(const char *name)
{
	for (size_t i = 0; i < sizeof(meanings) / sizeof(*meanings); i++)
		if (!strcmp(name, meanings[i].name))
			return meanings[i].meaning;
	return strncmp(name, VECTOR, strlen(VECTOR)) ? MEANS_NOTHING : MEANS_INTERRUPT;
}

static bool add(uint64_t address, const char *name)
{
	struct function *more;

	/* Two names of one function: the first is kept. */
	if (count && functions[count - 1].address == address)
		return true;
	more = reallocarray(functions, count + 1, sizeof(*functions));
	if (!more)
		return false;
	functions = more;
	functions[count] = (struct function){
	    .address = address, .name = strdup(name), .meaning = meaning_of(name)};
	return functions[count++].name;
}

static struct function *function_named(const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(functions[i].name, name))
			return &functions[i];
	return NULL;
}

bool functions_read(const char *path)
{
	FILE *file = fopen(path, "r");
	char line[LINE_BYTES], name[LINE_BYTES];
	uint64_t address;
	bool fine = file;

	while (fine && fgets(line, sizeof(line), file))
		if (sscanf(line, "%" SCNx64 " %599s", &address, name) == 2)
			fine = add(address, name);
	if (file)
		fclose(file);
	function_switch = function_named(SWITCH);
	return fine && count;
}

struct function *function_at(uint64_t address)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (functions[middle].address == address)
			return &functions[middle];
		if (functions[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

struct function *function_phase(uint32_t number)
{
	static struct phase {
		uint32_t number;
		struct function function;
		struct phase *next;
	} * phases;
	struct phase *phase = phases;

	while (phase && phase->number != number)
		phase = phase->next;
	if (phase)
		return &phase->function;
	phase = calloc(1, sizeof(*phase));
	if (!phase || asprintf(&phase->function.name, "phase:%" PRIu32, number) < 0)
		abort();
	phase->number = number;
	phase->next = phases;
	phases = phase;
	return &phase->function;
}

struct tally *function_tally(struct function *function, int section, unsigned int processor)
{
	struct tally **tallies = &function->tallies[section];

	if (!*tallies)
		*tallies = calloc(PROCESSORS, sizeof(**tallies));
	if (!*tallies)
		abort();
	return &(*tallies)[processor];
}

static void print(FILE *file, const struct function *function, int section, int processor)
{
	const struct tally *tally = function->tallies[section];

	if (!tally)
		return;
	tally += processor;
	if (tally->calls || tally->own)
		fprintf(file, "%d %d %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", section,
			processor, function->name, tally->calls, tally->own, tally->inclusive,
			tally->longest);
}

void functions_print(FILE *file)
{
	for (int section = 0; section < SECTIONS; section++)
		for (int processor = 0; processor < PROCESSORS; processor++) {
			print(file, &function_stay, section, processor);
			print(file, &function_unknown, section, processor);
			for (size_t i = 0; i < count; i++)
				print(file, &functions[i], section, processor);
		}
}
