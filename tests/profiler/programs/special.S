/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Instructions that are not simply executed once each. A string instruction with a repeat prefix
 * counts as one instruction, as for the processor's own counter.
 *
 *   _start          5
 *   filling         5   its rep repeats 1,000 times
 *   nothing         5   its rep repeats 0 times
 *   comparing       7   its repe stops at the 11th of 100 bytes
 *   spinning      503   2, then 500 times the instruction that jumps to itself, then 1
 *   before_locked   2
 *   locked       1500   300 x 5
 *   calling       603   2, 200 x 3, 1
 *   called        400   200 x 2
 *   finish          3
 */

	.bss
buffer:	.skip	4096

	.data
one:	.ascii	"0123456789a"
	.skip	200
other:	.ascii	"0123456789b"
	.skip	200
word:	.quad	0

	.text
	.globl _start
	.type _start, @function
_start:
	cld
	nop
	nop
	nop
	jmp	filling
	.size _start, . - _start

	.type filling, @function
filling:
	mov	$1000, %ecx
	lea	buffer(%rip), %rdi
	xor	%eax, %eax
	rep stosb
	jmp	nothing
	.size filling, . - filling

	.type nothing, @function
nothing:
	xor	%ecx, %ecx
	lea	buffer(%rip), %rdi
	xor	%eax, %eax
	rep stosb
	jmp	comparing
	.size nothing, . - nothing

	.type comparing, @function
comparing:
	mov	$100, %ecx
	lea	one(%rip), %rsi
	lea	other(%rip), %rdi
	repe cmpsb
	sete	%al
	movzbl	%al, %eax
	jmp	spinning
	.size comparing, . - comparing

	.type spinning, @function
spinning:
	mov	$500, %ecx
	jmp	1f
1:	loop	1b
	jmp	before_locked
	.size spinning, . - spinning

	.type before_locked, @function
before_locked:
	mov	$300, %ecx
	jmp	locked
	.size before_locked, . - before_locked

	.type locked, @function
locked:
	nop
	lock incq word(%rip)
	nop
	dec	%ecx
	jnz	locked
	.size locked, . - locked

	.type calling, @function
calling:
	mov	$200, %ebx
	jmp	1f
1:	call	called
	dec	%ebx
	jnz	1b
	jmp	finish
	.size calling, . - calling

	.type called, @function
called:
	nop
	ret
	.size called, . - called

	.type finish, @function
finish:
	mov	$60, %eax
	xor	%edi, %edi
	syscall
	.size finish, . - finish

	.section .note.GNU-stack, "", @progbits
