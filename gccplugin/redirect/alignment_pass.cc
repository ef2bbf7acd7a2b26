// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Pass kadence_alignment: in functions with inserted code, loops begin at a cache line. Inserted
 * code moves the code behind it. A short loop that then lies across two cache lines takes half as
 * long again (examples/lu). All other functions stay as the compiler makes them: gzip takes 1.5 %
 * longer if all loops are aligned. A redirected call of I/O is as long as the original call and
 * moves nothing. The user's own options about the alignment of loops take precedence.
 */
#include <cstring>

#include "base/passes.h"
#include "redirect/library_calls.h"

namespace kadence
{
namespace
{

const char library_prefix[] = "kadapt_";
const int line_log = 6, line_bytes = 1 << line_log;

/* Whether the name is that of a function of libkadapt whose call makes the code longer. */
bool lengthens_code(const char *name)
{
	const size_t length = strlen(library_prefix);
	const library_call *replaced;

	if (strncmp(name, library_prefix, length))
		return false;
	replaced = find_library_call(name + length);
	return !replaced || replaced->kind != site_kind::io;
}

bool is_inserted(const rtx_insn *insn)
{
	const tree callee = CALL_P(insn) ? get_call_fndecl(insn) : NULL_TREE;

	return callee && lengthens_code(IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(callee)));
}

bool has_inserted_code()
{
	for (const rtx_insn *insn = get_insns(); insn; insn = NEXT_INSN(insn))
		if (is_inserted(insn))
			return true;
	return false;
}

const pass_data alignment_pass_data = {
    RTL_PASS, "kadence_alignment", OPTGROUP_NONE, TV_NONE, 0, 0, 0, 0, 0,
};

/* Sets the alignment for the compiler's own pass, which is the next one. */
class alignment_pass : public rtl_opt_pass
{
      public:
	explicit alignment_pass(gcc::context *context) : rtl_opt_pass(alignment_pass_data, context)
	{
	}

	bool gate(function *) final override
	{
		return !OPTION_SET_P(flag_align_loops) && !OPTION_SET_P(str_align_loops);
	}

	unsigned execute(function *) final override
	{
		/* Each function begins with its own options, not with those of the function before.
		 */
		parse_alignment_opts();
		if (has_inserted_code())
			align_loops = align_flags(line_log, line_bytes - 1);
		return 0;
	}
};

} // namespace

opt_pass *make_alignment_pass(gcc::context *context)
{
	return new alignment_pass(context);
}

} // namespace kadence
