/* SPDX-License-Identifier: GPL-2.0-only */
/* Stubs, and the functions that call them. */
#ifndef _KADAPT_PROBE_PLACES_H
#define _KADAPT_PROBE_PLACES_H

#include <linux/bits.h>
#include <linux/types.h>

struct ftrace_ops;

/* The kernel's code has at most a gigabyte. */
#define KADAPT_PROBE_TABLE_MOST	BIT(24)

unsigned long kadapt_probe_stub(unsigned int number, u32 kind);
/* The functions at these addresses call the stub. */
int kadapt_probe_register(struct ftrace_ops *ops, unsigned long *addresses,
			  unsigned int count, unsigned long stub);
/* They no longer do; tasks may still be in the stub. */
void kadapt_probe_unregister(struct ftrace_ops *ops, unsigned long stub);

#endif /* _KADAPT_PROBE_PLACES_H */
