/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How many instructions a block has, by GCC's weights of size (estimate_num_insns) where these are
 * not far from what is executed. An estimate, from before optimisation.
 */
#ifndef KADENCE_BLOCK_WEIGHT_H
#define KADENCE_BLOCK_WEIGHT_H

#include "base/gcc_compat.h"

namespace kadence
{

/* At least 1, so that every block that runs is seen. */
unsigned instructions_of(basic_block block);

} // namespace kadence

#endif
