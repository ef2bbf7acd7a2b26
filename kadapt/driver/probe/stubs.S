/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stubs: the first instruction of an instrumented function calls one. At the
 * begin of a function r10, r11 and rax are free.
 *
 * A counter adds 1 in the records of the phase that the current task is in, and
 * returns into the function. Beside timers it also adds what it costs to the
 * absence of the task, so that a timed caller's time does not contain it.
 *
 * A timer links a frame on the kernel's stack and calls the rest of the
 * function. So recursion, interrupts and calls that never end need no list of
 * their own, and the frames of a task go where the task goes:
 *
 *	begin, parent, record	struct kadapt_probe_frame
 *	function + 5		what the function's first instruction pushed
 *	caller			what the caller pushed
 *
 * Time is the counter without what the task was away, which includes the costs
 * of the stubs themselves. A stub that is preempted between the two reads of
 * that difference would take the absence for time of the function. The switch
 * lets it begin the difference anew: see restart.c. When the function returns,
 * everything but rax is free: rdx is only used by results of 16 bytes.
 *
 * A function with a stub of its own finds its record by a constant. Others share
 * a stub that finds it by the address to which the stub would return.
 */
#include <linux/linkage.h>
#include <linux/objtool.h>
#ifdef CONFIG_UML
/* There is one processor, so its variables are ordinary ones. */
#define PER_CPU_VAR(name) name(%rip)
#else
#include <asm/percpu.h>
#endif
#include <asm/unwind_hints.h>

#include "probe/layout.h"

	.text

/* rax = the record of the function that calls, as an offset in the block. */
	.macro look_up
	movl	(%rsp), %eax
	shrl	$4, %eax
	movq	kadapt_probe_table(%rip), %r10
	movl	(%r10, %rax, 4), %eax
	.endm

/* rax = the task's time, r11 = its state. A preemption within begins it anew. */
	.macro task_time saved_rdx=0
.Lbegin_\@:
	rdtsc
	shlq	$32, %rdx
	orq	%rdx, %rax
	.if	\saved_rdx
	movq	%r10, %rdx
	.endif
	subq	STATE_AWAY(%r11), %rax
.Lend_\@:
	.pushsection .rodata, "a"
	.long	.Lbegin_\@ - kadapt_probe_timers, .Lend_\@ - kadapt_probe_timers
	.popsection
	.endm

/*
 * r10 = the task's time at the end, r11 = its state. A preemption between taking
 * a place and reading the ring's address begins both anew.
 */
	.macro write_event is_shared
	addq	STATE_AWAY(%r11), %r10
	movq	CALL_BEGIN(%rsp), %r8
	addq	CALL_AWAY(%rsp), %r8
.Lbegin_\@:
	movl	$EVENT_BYTES, %eax
	xaddq	%rax, PER_CPU_VAR(kadapt_probe_event_head)
	movq	PER_CPU_VAR(kadapt_probe_event_ring), %rdx
.Lend_\@:
	.pushsection .rodata, "a"
	.long	.Lbegin_\@ - kadapt_probe_timers, .Lend_\@ - kadapt_probe_timers
	.popsection
	movq	%rax, %r9
	andq	kadapt_probe_event_mask(%rip), %rax
	addq	%rdx, %rax
	movq	%r8, EVENT_BEGIN(%rax)
	movq	%r10, EVENT_END(%rax)
	.if	\is_shared
	movl	CALL_RECORD(%rsp), %edx
	movl	%edx, EVENT_WHAT(%rax)
	.else
	movl	$record, EVENT_WHAT(%rax)
	.endif
	movl	STATE_NUMBER(%r11), %edx
	movl	%edx, EVENT_TASK(%rax)
	incq	%r9
	movq	%r9, EVENT_SEQUENCE(%rax)
	.endm

/* The symbol `record` is a constant, or 0 if the stub is shared; `kind` is one. */
	.macro timer results, is_shared, has_events
	movq	PER_CPU_VAR(kadapt_probe_state), %r11
	testq	%r11, %r11
	jz	.Lunobserved_\@
	.if	\is_shared
	look_up
	.endif
	.if	\has_events
	pushq	STATE_AWAY(%r11)
	.endif
	.if	\is_shared
	pushq	%rax
	.else
	pushq	$record
	.endif
	pushq	STATE_TOP(%r11)
	movq	%rdx, %r10
	task_time saved_rdx=1
	pushq	%rax
	movq	%rsp, STATE_TOP(%r11)
	ANNOTATE_INTRA_FUNCTION_CALL
	call	.Lbody_\@
	.if	\has_events
	UNWIND_HINT type=UNWIND_HINT_TYPE_CALL sp_reg=ORC_REG_SP sp_offset=(CALL_AND_FUNCTION + 8)
	.else
	UNWIND_HINT type=UNWIND_HINT_TYPE_CALL sp_reg=ORC_REG_SP sp_offset=CALL_AND_FUNCTION
	.endif

	movq	%rax, %rcx
	movq	PER_CPU_VAR(kadapt_probe_state), %r11
	task_time
	.if	\has_events
	movq	%rax, %r10
	.endif
	subq	CALL_BEGIN(%rsp), %rax
	subq	kadapt_probe_inner(%rip), %rax
	movq	CALL_PARENT(%rsp), %r8
	movq	%r8, STATE_TOP(%r11)
	movq	CALL_RECORD(%r8), %r9
	movq	PER_CPU_VAR(kadapt_probe_block), %rdi
	addq	%rax, RECORD_CHILDREN(%rdi, %r9)
	.if	\is_shared
	addq	CALL_RECORD(%rsp), %rdi
	.endif
	addq	%rax, record + RECORD_INCLUSIVE(%rdi)
	\results
	orq	$1, %rax
	bsrq	%rax, %rdx
	incq	record + RECORD_HISTOGRAM(%rdi, %rdx, 8)
	.if	\has_events
	write_event \is_shared
	.endif
	.if	\is_shared
	movq	kadapt_probe_shared_costs + 8 * kind(%rip), %rdx
	.else
	movq	kadapt_probe_costs + 8 * kind(%rip), %rdx
	.endif
	addq	%rdx, STATE_AWAY(%r11)
	addq	$(CALL_AND_FUNCTION + 8 * \has_events), %rsp
	movq	%rcx, %rax
	UNWIND_HINT_FUNC
	RET

.Lbody_\@:
	pushq	8 + CALL_FUNCTION + 8 * \has_events(%rsp)
	UNWIND_HINT_FUNC
	RET
.Lunobserved_\@:
	UNWIND_HINT_FUNC
	RET
	.endm

	.macro no_results
	.endm

	.macro results_long
	testq	%rcx, %rcx
	js	.Lnone_\@
	addq	%rcx, record + RECORD_RESULTS(%rdi)
.Lnone_\@:
	.endm

	.macro results_int
	movl	%ecx, %edx
	testl	%ecx, %ecx
	js	.Lnone_\@
	addq	%rdx, record + RECORD_RESULTS(%rdi)
.Lnone_\@:
	.endm

/*
 * Where an abandoned call returns: see abandoned.c. The kernel's unwinder looks
 * for the instruction before.
 */
	.macro abandoned_timer name, bytes
SYM_START(\name\()_call, SYM_L_LOCAL, SYM_A_NONE)
	ANNOTATE_NOENDBR
	UNWIND_HINT type=UNWIND_HINT_TYPE_CALL sp_reg=ORC_REG_SP sp_offset=\bytes
	nop
SYM_INNER_LABEL(\name, SYM_L_GLOBAL)
	ANNOTATE_NOENDBR
	movq	CALL_BEGIN(%rsp), %rcx
	lock decq (%rcx)
	addq	$(\bytes), %rsp
	UNWIND_HINT_FUNC
	RET
SYM_FUNC_END(\name\()_call)
	.endm

/* Only calls and returns come here, so that stubs need no endbr64. */
	.macro begin_stub name
SYM_START(\name, SYM_L_LOCAL, SYM_A_NONE)
	ANNOTATE_NOENDBR
	.endm

	.macro end_stub name, bytes
SYM_FUNC_END(\name)
	.org	\name + \bytes, 0xcc
	.endm

	.macro own_counter
	begin_stub kadapt_probe_counter_\@
	movq	PER_CPU_VAR(kadapt_probe_block), %r11
	incq	record + RECORD_HISTOGRAM(%r11)
	RET
	end_stub kadapt_probe_counter_\@, COUNTER_BYTES
	.endm

	.macro correct costs
	movq	PER_CPU_VAR(kadapt_probe_state), %r11
	testq	%r11, %r11
	jz	.Lunobserved_\@
	movq	\costs + 8 * KIND_CORRECTED(%rip), %rax
	addq	%rax, STATE_AWAY(%r11)
.Lunobserved_\@:
	RET
	.endm

	.macro own_corrected_counter
	begin_stub kadapt_probe_corrected_\@
	movq	PER_CPU_VAR(kadapt_probe_block), %r11
	incq	record + RECORD_HISTOGRAM(%r11)
	correct	kadapt_probe_costs
	end_stub kadapt_probe_corrected_\@, CORRECTED_BYTES
	.endm

	.macro one_timer results, is_shared, has_events
	begin_stub kadapt_probe_timer_\@
	timer	\results, \is_shared, \has_events
	.if	\has_events
	end_stub kadapt_probe_timer_\@, EVENT_TIMER_BYTES
	.else
	end_stub kadapt_probe_timer_\@, TIMER_BYTES
	.endif
	.endm

	.macro own_timers results, its_kind, has_events
	.set	record, 0
	.set	kind, \its_kind
	.rept	OWN_STUBS
	one_timer \results, 0, \has_events
	.set	record, record + RECORD_BYTES
	.endr
	.set	record, 0
	.endm

	.macro shared_timer results, its_kind, has_events
	.set	kind, \its_kind
	one_timer \results, 1, \has_events
	.endm

/* What a preempted task begins anew, as offsets from the first timer. */
	.pushsection .rodata, "a"
	.balign	4
SYM_DATA_START(kadapt_probe_spans)
	.popsection

	.balign	TIMER_BYTES, 0xcc
SYM_ENTRY(kadapt_probe_timers, SYM_L_GLOBAL, SYM_A_NONE)
	own_timers no_results, KIND_TIME, 0
	own_timers results_long, KIND_BYTES_LONG, 0
	own_timers results_int, KIND_BYTES_INT, 0
SYM_ENTRY(kadapt_probe_shared_timers, SYM_L_GLOBAL, SYM_A_NONE)
	shared_timer no_results, KIND_TIME, 0
	shared_timer results_long, KIND_BYTES_LONG, 0
	shared_timer results_int, KIND_BYTES_INT, 0
	.balign	EVENT_TIMER_BYTES, 0xcc
SYM_ENTRY(kadapt_probe_event_timers, SYM_L_GLOBAL, SYM_A_NONE)
	own_timers no_results, KIND_TIME_EVENTS, 1
	own_timers results_long, KIND_TIME_EVENTS + 1, 1
	own_timers results_int, KIND_TIME_EVENTS + 2, 1
SYM_ENTRY(kadapt_probe_shared_event_timers, SYM_L_GLOBAL, SYM_A_NONE)
	shared_timer no_results, KIND_TIME_EVENTS, 1
	shared_timer results_long, KIND_TIME_EVENTS + 1, 1
	shared_timer results_int, KIND_TIME_EVENTS + 2, 1
/* Compared with, but never called. */
SYM_ENTRY(kadapt_probe_timers_end, SYM_L_GLOBAL, SYM_A_NONE)
	ANNOTATE_NOENDBR
	int3

	.pushsection .rodata, "a"
SYM_DATA_END_LABEL(kadapt_probe_spans, SYM_L_GLOBAL, kadapt_probe_spans_end)
	.popsection

	.balign	COUNTER_BYTES, 0xcc
SYM_ENTRY(kadapt_probe_counters, SYM_L_GLOBAL, SYM_A_NONE)
	.set	record, 0
	.rept	OWN_STUBS
	own_counter
	.set	record, record + RECORD_BYTES
	.endr

	begin_stub kadapt_probe_shared_counter
	look_up
	movq	PER_CPU_VAR(kadapt_probe_block), %r11
	incq	RECORD_HISTOGRAM(%r11, %rax)
	RET
SYM_FUNC_END(kadapt_probe_shared_counter)

	.balign	CORRECTED_BYTES, 0xcc
SYM_ENTRY(kadapt_probe_corrected_counters, SYM_L_GLOBAL, SYM_A_NONE)
	.set	record, 0
	.rept	OWN_STUBS
	own_corrected_counter
	.set	record, record + RECORD_BYTES
	.endr

	begin_stub kadapt_probe_shared_corrected_counter
	look_up
	movq	PER_CPU_VAR(kadapt_probe_block), %r11
	incq	RECORD_HISTOGRAM(%r11, %rax)
	correct	kadapt_probe_shared_costs
SYM_FUNC_END(kadapt_probe_shared_corrected_counter)

	abandoned_timer kadapt_probe_abandoned_timer, CALL_AND_FUNCTION
	abandoned_timer kadapt_probe_abandoned_event_timer, (CALL_AND_FUNCTION + 8)

/* ---- what the calibration times ------------------------------------------ */

SYM_FUNC_START_LOCAL(look_up_alone)
	pushq	%rdi
	look_up
	addq	$8, %rsp
	RET
SYM_FUNC_END(look_up_alone)

SYM_FUNC_START_LOCAL(nothing_alone)
	pushq	%rdi
	addq	$8, %rsp
	RET
SYM_FUNC_END(nothing_alone)

	.macro ticks
	lfence
	rdtsc
	shlq	$32, %rdx
	orq	%rdx, %rax
	.endm

/* u64 (u64 calls): the ticks of a loop of calls. The loops differ in the call only. */
	.macro timed_loop name, function
SYM_FUNC_START(\name)
	pushq	%rbx
	pushq	%rbp
	movq	%rdi, %rbx
	ticks
	movq	%rax, %rbp
.Lagain_\@:
	xorl	%edi, %edi
	.ifnb	\function
	call	\function
	.endif
	decq	%rbx
	jnz	.Lagain_\@
	ticks
	subq	%rbp, %rax
	popq	%rbp
	popq	%rbx
	RET
SYM_FUNC_END(\name)
	.endm

	timed_loop kadapt_probe_time_bare
	timed_loop kadapt_probe_time_empty, kadapt_probe_empty
	timed_loop kadapt_probe_time_nothing, nothing_alone
	timed_loop kadapt_probe_time_look_up, look_up_alone
	timed_loop kadapt_probe_time_point, kadapt_probe_point_empty
