// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Pass kadence_unsplit takes the place of the compiler's fnsplit, which moves parts of functions
 * into functions of their own by guesses. Functions are to be counted whole. Where counts are
 * known, feedback_fnsplit splits by them. GCC leaves fnsplit out for -fprofile-generate and
 * -fprofile-use, too (ipa-split.cc, pass_split_functions::gate).
 */
#include "base/passes.h"

namespace kadence
{
namespace
{

const pass_data unsplit_pass_data = {
    GIMPLE_PASS, "kadence_unsplit", OPTGROUP_NONE, TV_NONE, 0, 0, 0, 0, 0,
};

class unsplit_pass : public gimple_opt_pass
{
      public:
	explicit unsplit_pass(gcc::context *context) : gimple_opt_pass(unsplit_pass_data, context)
	{
	}

	bool gate(function *) final override
	{
		return false;
	}
};

} // namespace

opt_pass *make_unsplit_pass(gcc::context *context)
{
	return new unsplit_pass(context);
}

} // namespace kadence
