/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The device's calls about ranges of memory. Kernels whose page faults do not
 * call the driver get stubs.
 */
#ifndef _KADAPT_RANGES_H
#define _KADAPT_RANGES_H

#include <linux/errno.h>

struct kadapt_memory;
struct kadapt_query;

#ifdef KADAPT_WITH_RANGES

void kadapt_ranges_query(struct kadapt_query *query);
int kadapt_ranges_bind(struct kadapt_memory *memory);
int kadapt_ranges_init(void);
void kadapt_ranges_exit(void);

#else

static inline void kadapt_ranges_query(struct kadapt_query *query)
{
}

static inline int kadapt_ranges_bind(struct kadapt_memory *memory)
{
	return -EOPNOTSUPP;
}

static inline int kadapt_ranges_init(void)
{
	return 0;
}

static inline void kadapt_ranges_exit(void)
{
}

#endif

#endif /* _KADAPT_RANGES_H */
