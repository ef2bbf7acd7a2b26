// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

#define BLANKS " \t\n"

const char *kadapt_units(void)
{
	/* A set-user-ID program takes no unit that its caller names. */
	const char *words = secure_getenv("KADAPT_UNITS");

	return words ? words : "";
}

/* Whether the list of phases, which ends with the word, has this one. */
static int has_phase(const char *list, const char *end, uint32_t phase)
{
	while (list < end) {
		char *after;
		unsigned long each = strtoul(list, &after, 10);

		if (after == list || after > end || (after < end && *after != ','))
			return 0;
		if (each == phase)
			return 1;
		list = after + 1;
	}
	return 0;
}

/* Whether the word names a unit for this phase, and that name. */
static int read_word(const char *word, size_t length, uint32_t phase, char name[KADAPT_UNIT_NAME])
{
	const char *colon = memchr(word, ':', length);
	size_t name_length = colon ? (size_t)(colon - word) : length;

	if (name_length >= KADAPT_UNIT_NAME)
		return 0;
	if (colon && !has_phase(colon + 1, word + length, phase))
		return 0;
	memset(name, 0, KADAPT_UNIT_NAME);
	memcpy(name, word, name_length);
	return 1;
}

int kadapt_units_next(const char **word, uint32_t phase, char name[KADAPT_UNIT_NAME])
{
	for (;;) {
		const char *begin = *word + strspn(*word, BLANKS);
		size_t length = strcspn(begin, BLANKS);

		*word = begin + length;
		if (!length)
			return 0;
		if (read_word(begin, length, phase, name))
			return 1;
	}
}
