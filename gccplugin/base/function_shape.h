/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What identifies a function between a profile and a later compilation: its name, its place, the
 * checksum of its control-flow graph and its loops in an order that depends on that graph alone.
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
	int line;	 /* of the header's first statement; 0 where the compiler kept none */
	int depth;	 /* 1 for an outermost loop */
	unsigned before; /* index of the block that alone leads into it; 0: there is none */
	/* Of the blocks that lead back and nowhere else; empty where others do, or `before`
	 * decides. */
	std::vector<unsigned> latches;
};

struct function_shape {
	std::string name;		  /* assembler name */
	std::vector<std::string> aliases; /* its other names, as C++'s constructors have */
	std::string file; /* as the compiler was given it, after -ffile-prefix-map */
	int line;
	uint32_t cfg_checksum;
	unsigned entry; /* index of the block that only calls lead to; 0: there is none */
	std::vector<loop_shape> loops; /* a marker's loop index is a position in here */
};

/* The edges of a block, which may have none. */
std::vector<edge> all_of(vec<edge, va_gc> *edges);

/* The name of a function as the assembler and the linker see it. */
std::string assembler_name(tree decl);

/* Whether `fn` tells which function an indirect one is: it runs before the program is relocated. */
bool resolves_indirect_function(function *fn);

/* The shape of `fn`, which must be the current function. Does not change the code. */
function_shape shape_of(function *fn);

/* Whether what is inserted at a block's end runs when the block is left, and as often as it ran. */
bool has_open_end(basic_block block);

/* The sentence for a function whose checksum was another when it was profiled. */
std::string why_changed(uint32_t checksum_then, const function_shape &now);

/* The first line of its code, 0: unknown. Debug statements are passed over: -g changes nothing. */
int first_line(basic_block block);

} // namespace kadence

#endif
