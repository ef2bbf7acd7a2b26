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

/* There is no such block if several blocks enter the loop, or if `fn` begins with the loop. */
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
 * If the block before a loop has no code that stays, it can't be counted. Then its count is the
 * header's count minus the counts of the blocks that lead back to the header.
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

/* If a function begins with a loop, not only calls lead to its first block. */
unsigned entry_of(function *fn)
{
	basic_block first = single_succ(ENTRY_BLOCK_PTR_FOR_FN(fn));

	return single_pred_p(first) ? first->index : 0;
}

/*
 * Loops in the order of their headers' block numbers. The checksum covers the numbers of all
 * blocks and the targets of their edges. So with an equal checksum, an index means the same loop.
 */
std::vector<loop_shape> loops_of(function *fn)
{
	std::vector<loop_shape> found;

	/* The loops are only read: this makes no preheader and no latch. */
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

bool returns_again(gimple *statement)
{
	return is_gimple_call(statement) &&
	       (gimple_call_flags(statement) & ECF_RETURNS_TWICE ||
		gimple_call_builtin_p(statement, BUILT_IN_SETJMP_RECEIVER));
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
	/* A leading star means that the assembler adds no prefix; the symbol has no star. */
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

function_identity identity_of(function *fn)
{
	return {assembler_name(fn->decl), file_of(expand_location(DECL_SOURCE_LOCATION(fn->decl))),
		coverage_compute_cfg_checksum(fn)};
}

function_shape shape_of(function *fn)
{
	const bool had_dominators = dom_info_available_p(CDI_DOMINATORS);
	function_shape shape;

	static_cast<function_identity &>(shape) = identity_of(fn);
	shape.aliases = aliases_of(fn->decl);
	shape.line = expand_location(DECL_SOURCE_LOCATION(fn->decl)).line;
	shape.entry = entry_of(fn);
	shape.loops = loops_of(fn);
	if (!had_dominators)
		free_dominance_info(CDI_DOMINATORS);
	return shape;
}

bool begins_by_returning_again(basic_block block)
{
	gimple_stmt_iterator gsi = gsi_start_nondebug_after_labels_bb(block);

	return !gsi_end_p(gsi) && returns_again(gsi_stmt(gsi));
}

bool has_open_end(basic_block block)
{
	gimple *last = last_statement(block);

	return !last || !stmt_ends_bb_p(last) || gimple_code(last) == GIMPLE_COND ||
	       gimple_code(last) == GIMPLE_SWITCH;
}

std::string why_changed(uint32_t checksum_then, const function_identity &now)
{
	return "the function changed since the profile, in its source or in the options it is "
	       "compiled with (its control flow then had checksum " +
	       hexadecimal(checksum_then) + ", now " + hexadecimal(now.cfg_checksum) +
	       "); profile it anew";
}

} // namespace kadence
