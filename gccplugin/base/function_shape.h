/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The shape of a function identifies it in a later compilation: its name, its place, the checksum
 * of its control-flow graph, and its loops. The order of the loops depends only on that graph.
 */
#ifndef KADENCE_FUNCTION_SHAPE_H
#define KADENCE_FUNCTION_SHAPE_H

#include "base/gcc_compat.h"

#include <string>
#include <vector>

namespace kadence
{

struct loop_shape {
	basic_block header;
	int line;	 /* of the header's first statement; 0: the compiler kept none */
	int depth;	 /* 1 for an outermost loop */
	unsigned before; /* index of the only block that leads into it; 0: there is none */
	/* Indices of the blocks that lead back and nowhere else. Empty if other blocks lead back,
	 * or if `before` is known. */
	std::vector<unsigned> latches;
};

struct function_identity {
	std::string name; /* assembler name */
	std::string file; /* as on the command line, after -ffile-prefix-map */
	uint32_t cfg_checksum;
};

struct function_shape : function_identity {
	std::vector<std::string> aliases; /* its other names; C++'s constructors have some */
	int line;
	unsigned entry; /* index of the block to which only calls lead; 0: there is none */
	std::vector<loop_shape> loops; /* a marker's loop index is a position in this vector */
};

/* The edges of a block; the vector may be null. */
std::vector<edge> all_of(vec<edge, va_gc> *edges);

/* The name of a function as the assembler and the linker see it. */
std::string assembler_name(tree decl);

/* Whether `fn` resolves an indirect function: it runs before the program is relocated. */
bool resolves_indirect_function(function *fn);

function_identity identity_of(function *fn);

/* The shape of `fn`, which must be the current function. Does not change the code. */
function_shape shape_of(function *fn);

/* Whether code inserted at a block's end runs exactly as often as the block. */
bool has_open_end(basic_block block);

/* Whether a block begins with a call that may return more than once, such as setjmp. */
bool begins_by_returning_again(basic_block block);

/* The sentence for a function whose checksum has changed since the profile. */
std::string why_changed(uint32_t checksum_then, const function_identity &now);

/* The first line of its code; 0: unknown. Debug statements do not count, so -g changes nothing. */
int first_line(basic_block block);

} // namespace kadence

#endif
