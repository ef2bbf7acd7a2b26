/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether a program's results depend on the layout of its code. The compiler fuses a product and a
 * sum into one instruction, which rounds once, where it finds both in one block
 * (tree-ssa-math-opts, convert_mult_to_fma). Counts decide which blocks are copied and merged. With
 * -ffast-math, the order of sums depends on what is unrolled and vectorized. The compiler does not
 * know of the rounding mode: what is inlined decides which operations are one to it.
 */
#ifndef KADENCE_ROUNDING_H
#define KADENCE_ROUNDING_H

#include "base/gcc_compat.h"

#include <string>

namespace kadence
{

struct rounding {
	tree function; /* NULL: no result depends on the layout */
	std::string why;
};

/* Looks at all functions of the unit, which must have their graphs. */
rounding find_rounding();

} // namespace kadence

#endif
