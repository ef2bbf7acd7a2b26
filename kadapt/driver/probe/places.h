/* SPDX-License-Identifier: GPL-2.0-only */
/* Stubs, and the functions that call them. */
#ifndef _KADAPT_PROBE_PLACES_H
#define _KADAPT_PROBE_PLACES_H

#include <linux/bits.h>
#include <linux/types.h>

#ifdef CONFIG_UML

/* planted.c; GCC's list of places, of which the linker finds begin and end. */
extern const unsigned long __start___mcount_loc[], __stop___mcount_loc[];

struct kadapt_probe_calls {
	unsigned long *addresses;
	unsigned int count;
};

#else

#include <linux/ftrace.h>

/* traced.c */
struct kadapt_probe_calls {
	struct ftrace_ops ops;
};

#endif

/* The kernel's code has at most a gigabyte. */
#define KADAPT_PROBE_TABLE_MOST	BIT(24)

unsigned long kadapt_probe_stub(unsigned int number, u32 kind);
/* The functions at these addresses call the stub. */
int kadapt_probe_register(struct kadapt_probe_calls *calls,
			  unsigned long *addresses, unsigned int count,
			  unsigned long stub);
/* They no longer do; tasks may still be in the stub. */
void kadapt_probe_unregister(struct kadapt_probe_calls *calls,
			     unsigned long stub);

#endif /* _KADAPT_PROBE_PLACES_H */
