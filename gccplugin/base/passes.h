/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The plugin's passes. Those that need the source's own functions and loops sit right after the
 * compiler's `ssa`, so that
 *  - the loops are the source's: nothing has been inlined, unrolled, threaded or merged yet;
 *  - what was inserted is inlined, cloned and moved with the code it announces;
 *  - every function of every language passes there once, at every optimisation level, OpenMP's
 *    outlined ones too, and none while link-time optimisation runs.
 * Profile mode's passes are described in count_pass.cc. kadence_redirect follows the first inlining
 * and kadence_batches the clean-up before the loop optimisers; why is said there.
 */
#ifndef KADENCE_PASSES_H
#define KADENCE_PASSES_H

#include "base/gcc_compat.h"

namespace kadence
{

struct plan;

/* kadence_cfg: records the shape of every function. */
opt_pass *make_cfg_pass(gcc::context *context);

/* Writes what kadence_cfg recorded of the unit; call when the assembler's file is about to end. */
void emit_cfg_section();

/* What kadence_phases inserts. */
struct marking {
	const struct plan *plan; /* null: insert nothing for a plan */
	bool mark_all;		 /* for tests: phase 0 at every entry and loop preheader */
	bool verbose;		 /* tell of every marker inserted */
};

/* kadence_phases: inserts the calls that announce phases. Must run right after kadence_cfg. */
opt_pass *make_marker_pass(gcc::context *context, const marking &what);

/* What kadence_sites, kadence_redirect and kadence_batches redirect. */
struct redirecting {
	const struct plan *plan; /* null: nothing for a plan */
	bool redirect_all;	 /* for tests: whatever can be, everywhere */
	bool verbose;		 /* tell of every call and loop */
};

/* kadence_sites: chooses the functions in which calls are redirected. Changes no code. */
opt_pass *make_site_pass(gcc::context *context, const redirecting &what);

/* kadence_redirect: redirects the chosen calls to libkadapt. Must run right after einline. */
opt_pass *make_redirect_pass(gcc::context *context, const redirecting &what);

/* kadence_batches: loops of redirected writes and of sends. Must run right before the loop
 * optimisers. */
opt_pass *make_batch_pass(gcc::context *context, const redirecting &what);

/* kadence_stores, kadence_stores_done: around each of the compiler's dse. Change no code. */
opt_pass *make_store_pass(gcc::context *context, bool verbose);
opt_pass *make_stores_done_pass(gcc::context *context);

/* kadence_alignment: where adapted code has loops begin. Must run right before alignments. */
opt_pass *make_alignment_pass(gcc::context *context);

/* kadence_marks: names blocks and marks them. Must run right after kadence_cfg. */
opt_pass *make_mark_pass(gcc::context *context);

/* kadence_adoption: keeps the marks of what was inlined. Must run right after einline. */
opt_pass *make_adoption_pass(gcc::context *context);

/* kadence_exact: counts blocks where gcov does; with `fast`, only what kadence_fast won't see. */
opt_pass *make_exact_pass(gcc::context *context, bool fast);

/* kadence_fast: counts blocks. Must run right after inlining, before anything is optimised. */
opt_pass *make_fast_pass(gcc::context *context);

} // namespace kadence

#endif
