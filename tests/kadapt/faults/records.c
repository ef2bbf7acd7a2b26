// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "records.h"

/* splitmix64, by Sebastiano Vigna. */
uint64_t dice(uint64_t *state)
{
	uint64_t mixed = *state += 0x9e3779b97f4a7c15;

	mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
	mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
	return mixed ^ (mixed >> 31);
}

uint64_t dice_below(uint64_t *state, uint64_t end)
{
	return dice(state) % end;
}

void dice_spin(uint64_t *state, uint64_t end)
{
	for (uint64_t i = dice_below(state, end); i; i--)
		asm volatile("");
}

void record_fill(const struct sequence *sequence, uint64_t number, void *record)
{
	uint64_t state = sequence->seed ^ (number * 0xff51afd7ed558ccd);

	for (size_t at = 0; at < sequence->size; at += sizeof(uint64_t)) {
		uint64_t word = dice(&state);

		memcpy((char *)record + at, &word, sizeof(word));
	}
}

void seen_more(struct seen *seen, const void *bytes, size_t count)
{
	size_t size = seen->sequence->size;
	char expected[LARGEST_RECORD];

	while (count && !seen->wrong) {
		size_t begin = seen->bytes % size;
		size_t part = count < size - begin ? count : size - begin;

		record_fill(seen->sequence, seen->bytes / size, expected);
		seen->wrong = memcmp(bytes, expected + begin, part) != 0;
		bytes = (const char *)bytes + part;
		seen->bytes += part;
		count -= part;
	}
}

void seen_file(struct seen *seen, int descriptor)
{
	static char buffer[1 << 16];
	off_t offset = 0;
	ssize_t count;

	while ((count = pread(descriptor, buffer, sizeof(buffer), offset)) > 0) {
		seen_more(seen, buffer, (size_t)count);
		offset += count;
	}
	seen->wrong |= count < 0;
}

bool seen_all(const struct seen *seen, uint64_t told)
{
	uint64_t whole = seen->bytes / seen->sequence->size;
	bool is_torn = seen->bytes % seen->sequence->size != 0;
	bool right = !seen->wrong && !is_torn && whole >= told && whole <= told + 1;

	if (!right)
		note("%s after %lu bytes in records of %zu, seed %lu; %lu records were told of",
		     seen->wrong ? "another byte" : "another length", (unsigned long)seen->bytes,
		     seen->sequence->size, (unsigned long)seen->sequence->seed,
		     (unsigned long)told);
	return right;
}
