/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Exactly 1,000,000 instructions: 5 + 4 x 249,998 + 3, in three blocks. */

/* Valgrind reads no symbols of a program without data. */
	.data
	.quad	0

	.text
	.globl _start
	.type _start, @function
_start:
	mov	$249998, %ecx
	nop
	nop
	nop
	jmp	body
	.size _start, . - _start

	.globl body
	.type body, @function
body:
	add	$1, %rdx
	nop
	dec	%ecx
	jnz	body
	.size body, . - body

	.globl finish
	.type finish, @function
finish:
	mov	$60, %eax
	xor	%edi, %edi
	syscall
	.size finish, . - finish

	.section .note.GNU-stack, "", @progbits
