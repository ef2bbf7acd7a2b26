/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _KADAPT_QUANTUM_H
#define _KADAPT_QUANTUM_H

#include <linux/types.h>

/* The phase's quantum (0: none), and the slice that the task had before. */
struct kadapt_quantum {
	u64 ns;
	u64 saved_ns;
	bool saved_custom;
};

bool kadapt_quantum_supported(void);
u64 kadapt_quantum_min_ns(void);
u64 kadapt_quantum_max_ns(void);

void kadapt_quanta_init(void);
int kadapt_quantum_check(u64 quantum_ns);
int kadapt_quantum_set(struct kadapt_quantum *quantum, u64 quantum_ns);
void kadapt_quantum_restore(struct kadapt_quantum *quantum);
void kadapt_quantum_grant(const struct kadapt_quantum *quantum);
/*
 * On all processors, what is left of a quantum ends soon, and none begins for two
 * ticks. For interrupts.
 */
void kadapt_quanta_end(void);
/* Waits until no processor ends one. */
void kadapt_quanta_exit(void);

#endif /* _KADAPT_QUANTUM_H */
