/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Marks phases for a plugin of QEMU that counts what the kernel does.
 *
 * The marks of a number's bits, the highest first, and the one that ends them
 * tell the plugin in which phase the current task is from now on. kadence/lab/
 * reads them.
 */
#ifndef _KADAPT_MARK_H
#define _KADAPT_MARK_H

#include <linux/bitops.h>
#include <linux/types.h>

#include "base/compat.h"
#include "phase/state.h"

enum kadapt_mark {
	KADAPT_MARK_BIT_CLEAR,
	KADAPT_MARK_BIT_SET,
	KADAPT_MARK_PHASE,
	KADAPT_MARK_NO_PHASE,
};

/* The phase's number, or KADAPT_NO_PHASE. */
static inline void kadapt_mark_phase(u32 phase)
{
	int bit;

	if (phase == KADAPT_NO_PHASE) {
		compat_mark(KADAPT_MARK_NO_PHASE);
		return;
	}
	for (bit = fls(phase) - 1; bit >= 0; bit--) {
		if (phase & BIT(bit))
			compat_mark(KADAPT_MARK_BIT_SET);
		else
			compat_mark(KADAPT_MARK_BIT_CLEAR);
	}
	compat_mark(KADAPT_MARK_PHASE);
}

#endif /* _KADAPT_MARK_H */
