/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The compiler's headers in the order that they need, and all differences between its releases.
 * No other file of the plugin uses BUILDING_GCC_VERSION.
 */
#ifndef KADENCE_GCC_COMPAT_H
#define KADENCE_GCC_COMPAT_H

#include "gcc-plugin.h"
#include "plugin-version.h"
#include "bversion.h"
#include "tree.h"
#include "tree-pass.h"
#include "backend.h"
#include "rtl.h"
#include "flags.h"
#include "opts.h"
#include "context.h"
#include "function.h"
#include "basic-block.h"
#include "cfganal.h"
#include "cfghooks.h"
#include "cfgloop.h"
#include "dominance.h"
#include "gimple.h"
#include "predict.h"
#include "gimple-predict.h"
#include "internal-fn.h"
#include "gimple-iterator.h"
#include "gimple-ssa.h"
#include "gimplify.h"
#include "gimplify-me.h"
#include "fold-const.h"
#include "ssa.h"
#include "tree-dfa.h"
#include "tree-ssa-alias.h"
#include "tree-cfg.h"
#include "tree-eh.h"
#include "tree-inline.h"
#include "tree-cfgcleanup.h"
#include "tree-into-ssa.h"
#include "tree-scalar-evolution.h"
#include "tree-ssa-loop.h"
#include "tree-ssa-loop-ivopts.h"
#include "tree-ssa-loop-manip.h"
#include "tree-ssa-loop-niter.h"
#include "cgraph.h"
#include "coverage.h"
#include "diagnostic.h"
#include "file-prefix-map.h"
#include "langhooks.h"
#include "memmodel.h"
#include "emit-rtl.h"
#include "output.h"
#include "print-tree.h"
#include "profile.h"
#include "stor-layout.h"
#include "stringpool.h"
#include "attribs.h"
#include "target.h"
#include "tm.h"
#include "tm_p.h"
#include "toplev.h"
#include "varasm.h"

#if BUILDING_GCC_VERSION < 12000 || BUILDING_GCC_VERSION >= 17000
#error "the plugin is known to work with GCC 12 to 16"
#endif

namespace kadence
{

inline gimple *last_statement(basic_block block)
{
#if BUILDING_GCC_VERSION >= 14000
	return last_nondebug_stmt(block);
#else
	return last_stmt(block);
#endif
}

/* A variable that counts the rounds of a loop from 0, as create_iv() describes it. */
inline void create_counter(tree type, class loop *loop, gimple_stmt_iterator *place, bool after,
			   tree *counter)
{
#if BUILDING_GCC_VERSION >= 14000
	create_iv(build_zero_cst(type), PLUS_EXPR, build_one_cst(type), NULL_TREE, loop, place,
		  after, counter, NULL);
#else
	create_iv(build_zero_cst(type), build_one_cst(type), NULL_TREE, loop, place, after, counter,
		  NULL);
#endif
}

inline bool are_warnings_errors()
{
#if BUILDING_GCC_VERSION >= 14000
	return global_dc->warning_as_error_requested_p();
#else
	return global_dc->warning_as_error_requested;
#endif
}

inline void make_warnings_errors(bool errors)
{
#if BUILDING_GCC_VERSION >= 14000
	global_dc->set_warning_as_error_requested(errors);
#else
	global_dc->warning_as_error_requested = errors;
#endif
}

/* What an option's handler gets if the command line does not say how severe its warnings are. */
#if BUILDING_GCC_VERSION >= 16000
constexpr int unspecified_severity = static_cast<int>(diagnostics::kind::unspecified);
#else
constexpr int unspecified_severity = DK_UNSPECIFIED;
#endif

} // namespace kadence

#endif
