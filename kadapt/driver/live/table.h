/* SPDX-License-Identifier: GPL-2.0-only */
/* What dispatch.c and stubs.S agree on. */
#ifndef _KADAPT_TABLE_H
#define _KADAPT_TABLE_H

#define KADAPT_STUB_BYTES 64
#define KADAPT_TABLE_SHIFT 22
#define KADAPT_TABLE_BYTES 16

#ifndef __ASSEMBLY__
#include <linux/build_bug.h>
#include <linux/types.h>

#define KADAPT_TABLE_SLOTS (1UL << (32 - KADAPT_TABLE_SHIFT))

/* slot[(u32)address * multiplier >> KADAPT_TABLE_SHIFT] is the variant. */
struct kadapt_table {
	u32 multiplier;
	unsigned long *slot;
};

/* The tables of all units, by number. */
extern struct kadapt_table kadapt_tables[];

static_assert(sizeof(struct kadapt_table) == KADAPT_TABLE_BYTES);
#endif

#endif /* _KADAPT_TABLE_H */
