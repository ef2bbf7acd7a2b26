/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The shape of a block: shape.c finds where to count, instrument.c inserts the counting. */

#ifndef SHAPE_H
#define SHAPE_H

#include "kbbv.h"

enum { MAXIMUM_PROBES = 256, MAXIMUM_INSTRUCTIONS = 256, NO_ENTRY = -1 };

struct probe {
	Int after; /* index of the statement that the probe follows */
	UInt weight;
};

struct shape {
	struct probe probes[MAXIMUM_PROBES];
	UInt used;
	Int entry; /* statement that marks the first instruction; NO_ENTRY: an exit precedes it */
	UInt instructions;
	UChar lengths[MAXIMUM_INSTRUCTIONS];
	Addr repeated; /* address of the block's repeated string instruction, or 0 */
};

void shape_survey(const IRSB *in, struct shape *shape);
Bool leads_to(const IRConst *target, Addr address);

#endif
