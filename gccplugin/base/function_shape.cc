// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/function_shape.h"

#include <algorithm>

namespace kadence
{
namespace
{

std::vector<std::string> aliases_of(tree decl)
{
	std::vector<std::string> found;
	cgraph_node *node = cgraph_node::get(decl);
	ipa_ref *alias;

	for (unsigned index = 0; node->iterate_direct_aliases(index, alias); index++)
		found.push_back(assembler_name(alias->referring->decl));
	return found;
}

std::string file_of(const expanded_location &place)
{
	return place.file ? remap_debug_filename(place.file) : "";
}

/* A loop that is entered from several blocks has none before it, nor has one that begins `fn`. */
unsigned block_before(class loop *loop)
{
	edge found = NULL;

	for (edge candidate : *loop->header->preds) {
		if (flow_bb_inside_loop_p(loop, candidate->src))
			continue;
		if (found)
			return 0;
		found = candidate;
	}
	const bool usable = found && !(found->flags & EDGE_COMPLEX) && has_open_end(found->src);
	return usable ? found->src->index : 0;
}

/*
 * The block before a loop may hold nothing that stays, and then it can't be counted. But what leads
 * back enters the header, too: the header's count less theirs is that of the block before.
 */
std::vector<unsigned> latches_of(class loop *loop, unsigned before)
{
	std::vector<unsigned> found;

	if (!before || !single_succ_p(BASIC_BLOCK_FOR_FN(cfun, before)))
		return {};
	for (edge candidate : *loop->header->preds) {
		if (!flow_bb_inside_loop_p(loop, candidate->src))
			continue;
		if (!single_succ_p(candidate->src))
			return {};
		found.push_back(candidate->src->index);
	}
	return found;
}

/* A function may begin with a loop: then what leads to its first block is not only calls. */
unsigned entry_of(function *fn)
{
	basic_block first = single_succ(ENTRY_BLOCK_PTR_FOR_FN(fn));

	return single_pred_p(first) ? first->index : 0;
}

/*
 * Loops in the order of their headers' block numbers. The checksum covers the numbers of all
 * blocks and where their edges lead, so under an equal checksum the same index is the same loop.
 */
std::vector<loop_shape> loops_of(function *fn)
{
	std::vector<loop_shape> found;

	/* Only looked at: no preheader or latch is made here. */
	loop_optimizer_init(AVOID_CFG_MODIFICATIONS);
	for (class loop *loop : loops_list(fn, 0)) {
		const unsigned before = block_before(loop);
		found.push_back({loop->header, first_line(loop->header), (int)loop_depth(loop),
				 before, latches_of(loop, before)});
	}
	loop_optimizer_finalize();
	std::sort(found.begin(), found.end(), [](const loop_shape &one, const loop_shape &other) {
		return one.header->index < other.header->index;
	});
	return found;
}

std::string hexadecimal(uint32_t value)
{
	char digits[9];

	snprintf(digits, sizeof(digits), "%08x", value);
	return digits;
}

} // namespace

int first_line(basic_block block)
{
	for (gimple_stmt_iterator gsi = gsi_start_nondebug_after_labels_bb(block); !gsi_end_p(gsi);
	     gsi_next_nondebug(&gsi)) {
		const location_t place = gimple_location(gsi_stmt(gsi));
		if (LOCATION_LOCUS(place) > BUILTINS_LOCATION)
			return expand_location(place).line;
	}
	return 0;
}

std::vector<edge> all_of(vec<edge, va_gc> *edges)
{
	return edges ? std::vector<edge>(edges->begin(), edges->end()) : std::vector<edge>();
}

std::string assembler_name(tree decl)
{
	/* A leading star tells the assembler's writer to add no prefix; it is not in the symbol. */
	return targetm.strip_name_encoding(IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(decl)));
}

bool resolves_indirect_function(function *fn)
{
	cgraph_node *node = cgraph_node::get(fn->decl);
	ipa_ref *alias;

	for (unsigned index = 0; node->iterate_direct_aliases(index, alias); index++)
		if (alias->referring->ifunc_resolver)
			return true;
	return false;
}

function_shape shape_of(function *fn)
{
	const expanded_location place = expand_location(DECL_SOURCE_LOCATION(fn->decl));
	const bool had_dominators = dom_info_available_p(CDI_DOMINATORS);
	function_shape shape;

	shape.name = assembler_name(fn->decl);
	shape.aliases = aliases_of(fn->decl);
	shape.file = file_of(place);
	shape.line = place.line;
	shape.cfg_checksum = coverage_compute_cfg_checksum(fn);
	shape.entry = entry_of(fn);
	shape.loops = loops_of(fn);
	if (!had_dominators)
		free_dominance_info(CDI_DOMINATORS);
	return shape;
}

bool has_open_end(basic_block block)
{
	gimple *last = last_stmt(block);

	return !last || !stmt_ends_bb_p(last) || gimple_code(last) == GIMPLE_COND ||
	       gimple_code(last) == GIMPLE_SWITCH;
}

std::string why_changed(uint32_t checksum_then, const function_shape &now)
{
	return "the function changed since the profile, in its source or in the options it is "
	       "compiled with (its control flow then had checksum " +
	       hexadecimal(checksum_then) + ", now " + hexadecimal(now.cfg_checksum) +
	       "); profile it anew";
}

} // namespace kadence
