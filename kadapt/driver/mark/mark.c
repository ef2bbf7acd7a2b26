// SPDX-License-Identifier: GPL-2.0-only
/*
 * Marks phases for a plugin of QEMU that counts what the kernel does.
 *
 * A mark is an instruction that does nothing. The marks of a number's bits, the
 * highest first, and the one that ends them tell the plugin in which phase the
 * current task is from now on. kadence/lab/plugin/ reads them.
 */
#include <linux/bitops.h>
#include <linux/module.h>

#include "phase/events.h"
#include "phase/state.h"

enum mark {
	MARK_BIT_CLEAR,
	MARK_BIT_SET,
	MARK_PHASE,
	MARK_NO_PHASE,
};

/* nopl 0x4b4150NN(%rax) */
static __always_inline void mark(const enum mark number)
{
	asm volatile(".byte 0x0f, 0x1f, 0x80, %c0, 0x50, 0x41, 0x4b"
		     : : "i" (number) : "memory");
}

static void mark_phase(void *data, u32 phase)
{
	int bit;

	if (phase == KADAPT_NO_PHASE) {
		mark(MARK_NO_PHASE);
		return;
	}
	for (bit = fls(phase) - 1; bit >= 0; bit--) {
		if (phase & BIT(bit))
			mark(MARK_BIT_SET);
		else
			mark(MARK_BIT_CLEAR);
	}
	mark(MARK_PHASE);
}

static int __init mark_init(void)
{
	return register_trace_kadapt_phase(mark_phase, NULL);
}

static void __exit mark_exit(void)
{
	unregister_trace_kadapt_phase(mark_phase, NULL);
	tracepoint_synchronize_unregister();
}

module_init(mark_init);
module_exit(mark_exit);

MODULE_DESCRIPTION("Marks the phases of programs for QEMU's plugin in the lab");
MODULE_LICENSE("GPL");
