// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Pass kadence_alignment: in functions that call libkadapt, loops begin at a cache line. What was
 * inserted moves the code behind it, and a short loop that comes to lie across two lines takes half
 * as long again (examples/lu). All other functions stay as the compiler makes them: gzip takes
 * 1.5 % longer where all loops are aligned. Who asks for an alignment of loops gets that one.
 */
#include <cstring>

#include "passes.h"

namespace kadence
{
namespace
{

const char library_prefix[] = "kadapt_";
const int line_log = 6, line_bytes = 1 << line_log;

bool calls_library(const rtx_insn *insn)
{
	const tree callee = CALL_P(insn) ? get_call_fndecl(insn) : NULL_TREE;

	return callee && !strncmp(IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(callee)), library_prefix,
				  strlen(library_prefix));
}

bool function_calls_library()
{
	for (const rtx_insn *insn = get_insns(); insn; insn = NEXT_INSN(insn))
		if (calls_library(insn))
			return true;
	return false;
}

const pass_data alignment_pass_data = {
    RTL_PASS, "kadence_alignment", OPTGROUP_NONE, TV_NONE, 0, 0, 0, 0, 0,
};

/* Sets what the compiler's own pass, the next one, goes by. */
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
		/* As the function's own options have it, whatever the one before needed. */
		parse_alignment_opts();
		if (function_calls_library())
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
