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
	gcall *call; /* the one in the loop */
	bool sends;  /* it is a send, else a write */
	tree descriptor;
	tree flags;   /* of a send */
	tree base;    /* address of the first piece */
	tree size;    /* of each */
	tree stride;  /* from one to the next */
	tree count;   /* how many, if all are written whole */
	tree guard;   /* boolean: whether all that was found here is so */
	bool hoisted; /* loads were moved before the loop */
};

/* The call of this kind in the loop; the first, where there are several; null for none. */
gcall *batchable_call(const class loop *loop);

/*
 * Describes a loop with such a call; returns null, or why it can't be described so. What the loop
 * reads may be moved before it, either way.
 */
const char *describe_batch(class loop *loop, gcall *call, batch_loop &found);

} // namespace kadence

#endif
