/* SPDX-License-Identifier: GPL-2.0-only */
/* Batches. Kernels without rings have none. */
#ifndef _KADAPT_BATCH_H
#define _KADAPT_BATCH_H

#include <linux/errno.h>

struct kadapt_batch;

#ifdef KADAPT_WITH_RINGS

int kadapt_batch_write(struct kadapt_batch *batch);

#else

static inline int kadapt_batch_write(struct kadapt_batch *batch)
{
	return -EOPNOTSUPP;
}

#endif

#endif /* _KADAPT_BATCH_H */
