/* SPDX-License-Identifier: MIT */
/*
 * What the compiler plugin leaves in a program for the runtime (gccplugin/count/count_tables.cc).
 *
 * The `struct unit`s of all units lie side by side in the section kadence_units. Words are 32 bits:
 *
 *   words      number of functions, functions; number of blocks, blocks; number of bodies, bodies
 *   function   offset of its name and of its file in the texts, checksum of its control-flow graph,
 *              first block, number of blocks; 1 if its blocks are named for the layout, else 0
 *   block      function, index in the graph, line, instructions times 2 plus 1 for an entry
 *   body       what one function was compiled to: number of words that follow; first counter,
 *              number of counters; number of sums, sums; number of parts, parts; number of parts
 *              with blocks named for the layout, these parts
 *   part       block, and the sum that tells how often the body entered the block
 *   sum        number of terms, terms
 *   term       a value times 2, plus 1 to subtract it; values are the body's counters, then
 *              its sums; a sum refers only to earlier sums
 */
#ifndef KADENCE_PROFILE_TABLES_H
#define KADENCE_PROFILE_TABLES_H

#include <stdint.h>

enum { TABLES_VERSION = 3, UNIT_FAST = 0x1, FUNCTION_WORDS = 6, BLOCK_WORDS = 4 };

struct unit {
	int64_t (*place)(void); /* of the counters, relative to the thread pointer */
	const uint32_t *words;
	const char *texts;
	const void *module; /* makes the linker take the runtime */
	uint32_t counter_count;
	uint32_t version; /* TABLES_VERSION */
	uint32_t flags;	  /* UNIT_* */
	uint32_t reserved;
};

#endif
