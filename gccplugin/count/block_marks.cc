// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/function_shape.h"
#include "count/block_marks.h"
#include "count/block_weight.h"

namespace kadence
{
namespace
{

const char marks_file[] = "<kadence>";

std::vector<named_function> functions;
std::vector<named_block> blocks;

/* Whether the compiler keeps debug statements in functions of this language. */
bool language_emits;

/* One line for each block of the unit, so that the line table knows all blocks. */
location_t location_of_mark(unsigned position)
{
	static bool begun;

	if (!begun)
		linemap_add(line_table, LC_ENTER, false, marks_file, 1);
	begun = true;
	linemap_line_start(line_table, position + 1, 1);
	return linemap_position_for_column(line_table, 1);
}

void mark(function *fn, basic_block block)
{
	gimple_stmt_iterator gsi = gsi_after_labels(block);
	gimple *statement = gimple_build_debug_begin_stmt(DECL_INITIAL(fn->decl),
							  location_of_mark(blocks.size() - 1));

	gsi_insert_before(&gsi, statement, GSI_SAME_STMT);
}

/* Code that is inlined at a call outside of all scopes loses its debug statements. */
void put_calls_into_scope(function *fn, basic_block block)
{
	for (gimple_stmt_iterator gsi = gsi_start_bb(block); !gsi_end_p(gsi); gsi_next(&gsi))
		if (is_gimple_call(gsi_stmt(gsi)) && !gimple_block(gsi_stmt(gsi)))
			gimple_set_block(gsi_stmt(gsi), DECL_INITIAL(fn->decl));
}

void name(function *fn, basic_block block)
{
	const bool entry = single_succ(ENTRY_BLOCK_PTR_FOR_FN(fn)) == block;

	blocks.push_back({(unsigned)functions.size() - 1, (unsigned)block->index,
			  (unsigned)first_line(block), instructions_of(block), entry});
}

bool is_mark(gimple *statement)
{
	if (!gimple_debug_begin_stmt_p(statement))
		return false;
	const expanded_location place = expand_location(gimple_location(statement));
	return place.file && !strcmp(place.file, marks_file);
}

bool is_hold(gimple *statement)
{
	return gimple_code(statement) == GIMPLE_PREDICT &&
	       gimple_predict_predictor(statement) == PRED_NO_PREDICTION;
}

} // namespace

const std::vector<named_function> &named_functions()
{
	return functions;
}

const std::vector<named_block> &named_blocks()
{
	return blocks;
}

void keep_marks()
{
	language_emits = lang_hooks.emits_begin_stmt;
	lang_hooks.emits_begin_stmt = true;
}

void mark_blocks(function *fn, bool for_layout)
{
	const function_identity identity = identity_of(fn);
	basic_block block;

	/* Otherwise the compiler drops the marks of functions that are inlined into it. */
	fn->debug_nonbind_markers = true;
	functions.push_back({identity.name, identity.file, identity.cfg_checksum,
			     (unsigned)blocks.size(),
			     (unsigned)n_basic_blocks_for_fn(fn) - NUM_FIXED_BLOCKS, for_layout});
	FOR_EACH_BB_FN(block, fn)
	{
		name(fn, block);
		mark(fn, block);
		put_calls_into_scope(fn, block);
	}
}

void adopt_marks(function *fn)
{
	basic_block block;

	FOR_EACH_BB_FN(block, fn)
	for (gimple_stmt_iterator gsi = gsi_start_bb(block); !gsi_end_p(gsi); gsi_next(&gsi))
		if (is_mark(gsi_stmt(gsi)))
			gimple_set_block(gsi_stmt(gsi), DECL_INITIAL(fn->decl));
}

void hold_marks(function *fn)
{
	basic_block block;

	FOR_EACH_BB_FN(block, fn)
	for (gimple_stmt_iterator gsi = gsi_start_bb(block); !gsi_end_p(gsi); gsi_next(&gsi))
		/* Since GCC 13.3, nothing may precede a call that returns again. */
		if (is_mark(gsi_stmt(gsi)) && !begins_by_returning_again(block)) {
			gimple *hold = gimple_build_predict(PRED_NO_PREDICTION, NOT_TAKEN);

			/* The compiler deletes a mark with an inlined scope that has nothing else.
			 */
			gimple_set_location(hold, gimple_location(gsi_stmt(gsi)));
			gsi_insert_after(&gsi, hold, GSI_NEW_STMT);
		}
}

static std::vector<unsigned> take_marks_of(basic_block block)
{
	std::vector<unsigned> found;

	for (gimple_stmt_iterator gsi = gsi_start_bb(block); !gsi_end_p(gsi);) {
		const bool marks = is_mark(gsi_stmt(gsi));

		if (marks)
			found.push_back(gimple_lineno(gsi_stmt(gsi)) - 1);
		if (marks || is_hold(gsi_stmt(gsi))) {
			gsi_remove(&gsi, true);
		} else {
			gsi_next(&gsi);
		}
	}
	return found;
}

std::map<int, std::vector<unsigned>> take_marks(function *fn)
{
	std::map<int, std::vector<unsigned>> found;
	basic_block block;

	FOR_EACH_BB_FN(block, fn)
	found[block->index] = take_marks_of(block);
	fn->debug_nonbind_markers = language_emits && MAY_HAVE_DEBUG_MARKER_STMTS;
	return found;
}

} // namespace kadence
