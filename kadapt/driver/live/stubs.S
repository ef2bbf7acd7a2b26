/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Dispatch: one stub for each unit. The first instruction of a replaced function
 * is a call of its unit's stub (places.h). A task that
 * does not take the unit returns from the stub into the function.
 *
 * For a task that takes the unit, the stub finds the variant by the address to
 * which it would return, in a table without collisions (dispatch.c). It then
 * returns into the variant. To jump there would leave one address too many in
 * the processor's return predictor, and the predictions of all callers would
 * fail; so only this one fails.
 *
 * r10 and r11 are free at the begin of a function, and the variant finds its
 * arguments and the caller's return address where the original would.
 */
#include <linux/linkage.h>
#include <linux/objtool.h>
#ifdef CONFIG_UML
/* There is one processor, so its variables are ordinary ones. */
#define PER_CPU_VAR(name) name(%rip)
#else
#include <asm/percpu.h>
#endif

#include "live/table.h"

	.text
	.altmacro

	.macro stub number
	/* Only calls and returns come here, so that it needs no endbr64. */
SYM_START(kadapt_stub_\number, SYM_L_LOCAL, SYM_A_NONE)
	ANNOTATE_NOENDBR
	testl	$(1 << \number), PER_CPU_VAR(kadapt_unit_mask)
	jnz	1f
	RET
1:	movl	(%rsp), %r10d
	imull	kadapt_tables + \number * KADAPT_TABLE_BYTES(%rip), %r10d
	shrl	$KADAPT_TABLE_SHIFT, %r10d
	movq	kadapt_tables + \number * KADAPT_TABLE_BYTES + 8(%rip), %r11
	movq	(%r11, %r10, 8), %r11
	movq	%r11, (%rsp)
	RET
SYM_FUNC_END(kadapt_stub_\number)
	.org	kadapt_stub_\number + KADAPT_STUB_BYTES, 0xcc
	.endm

	.balign	KADAPT_STUB_BYTES, 0xcc
SYM_ENTRY(kadapt_stubs, SYM_L_GLOBAL, SYM_A_NONE)
	.set	number, 0
	.rept	32
	stub	%number
	.set	number, number + 1
	.endr
	/* Compared with, but never called. */
SYM_ENTRY(kadapt_stubs_end, SYM_L_GLOBAL, SYM_A_NONE)
	ANNOTATE_NOENDBR
	int3
