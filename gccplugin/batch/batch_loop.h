/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A loop whose only effect is to write or send pieces of memory at even distances. */
#ifndef KADENCE_BATCH_LOOP_H
#define KADENCE_BATCH_LOOP_H

#include "base/gcc_compat.h"

namespace kadence
{

/* Expressions of what is known before the loop; count and below are of type uint64_t. */
struct batch_loop {
	class loop *loop;
	gcall *call; /* the call in the loop */
	bool sends;  /* whether it is a send; else a write */
	tree descriptor;
	tree flags;   /* of a send */
	tree base;    /* address of the first piece */
	tree size;    /* of each piece */
	tree stride;  /* distance between two pieces */
	tree count;   /* number of pieces, if all are written whole */
	tree guard;   /* boolean: whether this description holds */
	bool hoisted; /* loads were moved before the loop */
};

/* The first call of this kind in the loop; null if there is none. */
gcall *batchable_call(const class loop *loop);

/*
 * Describes a loop with such a call. Returns null, or why the loop has no such description. In both
 * cases, loads may have moved before the loop.
 */
const char *describe_batch(class loop *loop, gcall *call, batch_loop &found);

} // namespace kadence

#endif
