/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The number of instructions of a block: GCC's weights of size (estimate_num_insns), corrected
 * where they differ much from the executed instructions. It is an estimate, made before
 * optimisation.
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
