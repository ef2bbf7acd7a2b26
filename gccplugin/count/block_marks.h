/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The names of basic blocks, and how they are carried from where names are given to where blocks
 * are counted.
 *
 * A block is named where adapt mode looks at functions, right after the compiler's `ssa`: function,
 * checksum of its control-flow graph, index in it. Each gets a mark, a debug statement, which by
 * the compiler's own rule changes no code whatever passes run; it is inlined, copied, merged and
 * deleted with its block. Where blocks are counted, a mark's block is looked up by the line of its
 * location, which lies in a file of the plugin's own.
 */
#ifndef KADENCE_BLOCK_MARKS_H
#define KADENCE_BLOCK_MARKS_H

#include "base/gcc_compat.h"

#include <map>
#include <string>
#include <vector>

namespace kadence
{

struct named_block {
	unsigned function;     /* position in named_functions() */
	unsigned index;	       /* in the function's graph; the entry block has 0 */
	unsigned line;	       /* of its first statement; 0 where the compiler kept none */
	unsigned instructions; /* estimated, at least 1 */
	bool entry;	       /* the first block that is executed */
};

struct named_function {
	std::string name;
	std::string file;
	uint32_t cfg_checksum;
	unsigned first_block; /* position in named_blocks() */
	unsigned blocks;
};

/* All of the unit, in the order in which they were named. */
const std::vector<named_function> &named_functions();
const std::vector<named_block> &named_blocks();

/*
 * Call before any function is compiled: the compiler drops such statements from copies of functions
 * in languages that write none themselves, as Fortran.
 */
void keep_marks();

/* Names the blocks of `fn`, the current function, and marks them. */
void mark_blocks(function *fn);

/*
 * Call after functions were inlined into `fn`: where nothing else of an inlined function is left,
 * the compiler drops debug statements of it. Now they are the function's own.
 */
void adopt_marks(function *fn);

/*
 * To delete a block with nothing in it but a mark, the compiler needs only to know where it leads;
 * where several paths meet there, as at the head of a loop, the mark is deleted with it. Inlining
 * leaves such blocks: a call was all that there was. Call before inlining: beside each mark is then
 * what does nothing and is neither deleted nor left out of what is inlined, a hint for the
 * prediction of branches without a prediction. Branches have been predicted before.
 */
void hold_marks(function *fn);

/*
 * Removes the marks and what holds them; by a block's index, the positions in named_blocks() whose
 * marks it had.
 */
std::map<int, std::vector<unsigned>> take_marks(function *fn);

} // namespace kadence

#endif
