/* SPDX-License-Identifier: MIT */
/* What the arena has done, for the report; and its share in a phase's begin. */
#ifndef LIBKADAPT_MEMORY_COUNT_H
#define LIBKADAPT_MEMORY_COUNT_H

#include <stdint.h>

struct kadapt_memory_totals {
	uint64_t blocks;      /* that the program took */
	uint64_t bytes;	      /* of them */
	uint64_t again_bytes; /* of them that had been kept */
	uint64_t peak_bytes;  /* the most that was in use at a time */
	uint64_t refused;     /* blocks that there was no room for */
};

/* Weak, because programs without sites do not have them. 0: no block was taken in this process. */
__attribute__((visibility("hidden"), weak)) int
kadapt_memory_count(struct kadapt_memory_totals *totals);

/* Looks whether what is kept has become too much. */
__attribute__((visibility("hidden"), weak)) void kadapt_memory_look(void);

#endif
