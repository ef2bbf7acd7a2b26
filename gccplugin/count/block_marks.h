/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The names of basic blocks, and the marks that carry the names to the pass that counts blocks.
 *
 * Blocks are named twice. For phases, at the position where adapt mode reads functions, right after
 * the compiler's `ssa`. For the layout, right before the compiler's `profile`, where the early
 * passes have inlined small functions, so each copy has names of its own.
 * A name is the function, the checksum of its control-flow graph, and the block's index.
 * Each block gets a mark, a debug statement. By a rule of the compiler, debug statements change no
 * code in any pass. The mark is inlined, copied, merged and deleted together with its block. The
 * location of a mark is a line in a file that only the plugin knows. The line tells the mark's
 * block.
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
	unsigned line;	       /* of its first statement; 0: the compiler kept none */
	unsigned instructions; /* estimated, at least 1 */
	bool entry;	       /* the first block that is executed */
};

struct named_function {
	std::string name;
	std::string file;
	uint32_t cfg_checksum;
	unsigned first_block; /* position in named_blocks() */
	unsigned blocks;
	bool for_layout;
};

/* All blocks and functions of the unit, in the order of naming. */
const std::vector<named_function> &named_functions();
const std::vector<named_block> &named_blocks();

/*
 * Call this before any function is compiled. In languages whose front end writes no debug
 * statements, as Fortran, the compiler would drop the statements from copies of functions.
 */
void keep_marks();

/* Names the blocks of `fn`, the current function, and marks them. */
void mark_blocks(function *fn, bool for_layout);

/*
 * Call this after functions were inlined into `fn`. It gives the marks of inlined functions to
 * `fn`. Otherwise, if nothing else of an inlined function is left, the compiler drops its marks.
 */
void adopt_marks(function *fn);

/*
 * The compiler deletes a block that has only a mark, with the mark, if several paths meet behind
 * the block, as at the head of a loop. Inlining leaves such blocks: the call was the only
 * statement. Call this before inlining. It puts a statement without effect beside each mark, which
 * is inlined and never deleted: a hint for the prediction of branches, after the prediction is
 * over.
 */
void hold_marks(function *fn);

/*
 * Removes the marks and the hints. Returns, by a block's index, the positions in named_blocks() of
 * the marks that the block had.
 */
std::map<int, std::vector<unsigned>> take_marks(function *fn);

} // namespace kadence

#endif
