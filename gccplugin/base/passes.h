/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The plugin's passes. Passes that need the source's own functions and loops run right after the
 * compiler's pass `ssa`:
 *  - The loops are still the source's: nothing has been inlined, unrolled, threaded or merged.
 *  - The compiler inlines, clones and moves inserted calls together with the code around them.
 *  - Every function of every language passes there once, at every optimisation level, also the
 *    functions that OpenMP outlines. None passes there during link-time optimisation.
 * count_pass.cc describes profile mode's passes. redirect_pass.cc and batch_pass.cc say why
 * kadence_redirect follows the first inlining, and kadence_batches the clean-up before the loop
 * optimisers.
 */
#ifndef KADENCE_PASSES_H
#define KADENCE_PASSES_H

#include "base/gcc_compat.h"

namespace kadence
{

struct plan;
struct code_layout;

/* kadence_cfg: records the shape of every function. */
opt_pass *make_cfg_pass(gcc::context *context);

/* Writes the records of kadence_cfg. Call it before the assembler's file ends. */
void emit_cfg_section();

/* What kadence_phases inserts. */
struct marking {
	const struct plan *plan; /* null: there is no plan */
	bool mark_all;		 /* for tests: mark phase 0 at every entry and loop preheader */
	bool verbose;		 /* print every inserted marker */
};

/* kadence_phases: inserts the calls that announce phases. Must run right after kadence_cfg. */
opt_pass *make_marker_pass(gcc::context *context, const marking &what);

/* What kadence_sites, kadence_redirect and kadence_batches redirect. */
struct redirecting {
	const struct plan *plan; /* null: there is no plan */
	bool redirect_all;	 /* for tests: redirect every call that can be redirected */
	bool verbose;		 /* print every redirected call and loop */
};

/* kadence_sites: chooses the functions in which calls are redirected. Changes no code. */
opt_pass *make_site_pass(gcc::context *context, const redirecting &what);

/* kadence_redirect: redirects the chosen calls to libkadapt. Must run right after einline. */
opt_pass *make_redirect_pass(gcc::context *context, const redirecting &what);

/* kadence_batches: makes batches of loops of redirected writes and of sends. Must run right before
 * the loop optimisers. */
opt_pass *make_batch_pass(gcc::context *context, const redirecting &what);

/* kadence_stores, kadence_stores_done: run around each of the compiler's dse. Change no code. */
opt_pass *make_store_pass(gcc::context *context, bool verbose);
opt_pass *make_stores_done_pass(gcc::context *context);

/* kadence_counts: tells the compiler how often blocks ran. Must run right before profile. It also
 * lets the compiler use a profile, whatever its command line says. */
opt_pass *make_counts_pass(gcc::context *context, const code_layout *layout, bool verbose);

/* kadence_forwarders: mends counts that cddce loses. Must run right after each cddce. */
opt_pass *make_forwarders_pass(gcc::context *context);

/* kadence_unsplit: does nothing, instead of fnsplit. */
opt_pass *make_unsplit_pass(gcc::context *context);

/* kadence_alignment: aligns loops of adapted functions. Must run right before alignments. */
opt_pass *make_alignment_pass(gcc::context *context);

/* kadence_marks: names blocks and marks them. Must run right after kadence_cfg. */
opt_pass *make_mark_pass(gcc::context *context);

/* kadence_adoption: keeps the marks of inlined functions. Must run right after einline. */
opt_pass *make_adoption_pass(gcc::context *context);

/* kadence_exact: names blocks for the layout, and counts blocks as gcov does; with `fast`, only
 * blocks unseen by kadence_fast. */
opt_pass *make_exact_pass(gcc::context *context, bool fast);

/* kadence_fast: counts blocks. Must run right after inlining, before anything is optimised. */
opt_pass *make_fast_pass(gcc::context *context);

} // namespace kadence

#endif
