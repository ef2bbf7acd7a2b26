/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The blocks of instructions that a guest ran, and which block ran after which.
 *
 * A block is what QEMU translated at once: it is entered at its first instruction only, and left
 * behind its last one, unless an instruction faults. Blocks may overlap.
 */
#ifndef KADENCE_LAB_BLOCKS_H
#define KADENCE_LAB_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define KERNEL 0xffff800000000000ULL /* its first address */
#define BEGIN 16		     /* bytes of a block that are kept */
#define LINES 66 /* of a block: QEMU puts at most 512 instructions and two pages into one */

struct line;

/* How a block ends. */
enum ending {
	FALLS,	  /* the next instruction follows */
	BRANCHES, /* that one, or the target */
	JUMPS,	  /* the target */
	CALLS,	  /* the target; the next instruction is where the call returns to */
	CALLS_BY, /* what a pointer names; the next instruction is where the call returns to */
	RETURNS,
	LEAVES,	 /* anywhere: an indirect jump, or a system call */
	RESUMES, /* where an interrupt or exception came */
	REPEATS, /* its last instruction once more, alone, or the next one */
};

struct successor {
	uint64_t address;
	uint64_t *counts;
	struct successor *next;
};

struct block {
	uint64_t address;
	uint64_t bytes;
	uint64_t page; /* the host's address of its first page, which tells address spaces apart */
	uint64_t instructions;
	uint64_t content; /* a checksum: the kernel patches its code */
	uint8_t begin[BEGIN];
	unsigned int begin_bytes;
	uint64_t last; /* the address of the last instruction */
	enum ending ending;
	uint64_t target;
	uint64_t *counts; /* by phase */
	struct successor *successors;
	unsigned int line_count;
	struct line *lines[LINES];
	struct block *next;
};

/* The block, which is added if it is new; its ending is not set then. Aborts without memory. */
struct block *block_at(uint64_t address, uint64_t page, uint64_t content, bool *is_new);

/* Counts an execution in a phase. False if only the last instruction before goes on. */
bool block_ran(struct block *block, unsigned int phase);

/* Lines of text:
 *	ran KERNEL PROGRAMS
 *	block ADDRESS BYTES INSTRUCTIONS ENDING TARGET COUNT...
 *	edge ADDRESS BYTES SUCCESSOR COUNT...
 *	program PAGE ADDRESS BYTES INSTRUCTIONS BEGIN COUNT...
 * The first has the instructions of both. Addresses are hexadecimal; an edge has those of its
 * block. The counts are by phase. The last is a block of a program, with the number of its first
 * page in the host and its first bytes. Blocks that did not run are left out.
 */
void blocks_print(FILE *file, unsigned int phases);

#endif
