/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A phase call that destroys every register the calling convention lets it destroy, so that a
 * marker which overlooked a live one shows. Linked from an archive: a program without markers
 * does not hold it.
 */
void kadapt_phase_enter(unsigned phase);

#define POISON "movq $0x5a5a5a5a5a5a5a5a, %%rax\n\t"

void kadapt_phase_enter(unsigned phase)
{
	(void)phase;
	__asm__ volatile(POISON "movq %%rax, %%rcx\n\t"
				"movq %%rax, %%rdx\n\t"
				"movq %%rax, %%rsi\n\t"
				"movq %%rax, %%rdi\n\t"
				"movq %%rax, %%r8\n\t"
				"movq %%rax, %%r9\n\t"
				"movq %%rax, %%r10\n\t"
				"movq %%rax, %%r11\n\t"
				"movq %%rax, %%xmm0\n\t"
				"movq %%rax, %%xmm1\n\t"
				"movq %%rax, %%xmm2\n\t"
				"movq %%rax, %%xmm3\n\t"
				"movq %%rax, %%xmm4\n\t"
				"movq %%rax, %%xmm5\n\t"
				"movq %%rax, %%xmm6\n\t"
				"movq %%rax, %%xmm7\n\t"
				"movq %%rax, %%xmm8\n\t"
				"movq %%rax, %%xmm9\n\t"
				"movq %%rax, %%xmm10\n\t"
				"movq %%rax, %%xmm11\n\t"
				"movq %%rax, %%xmm12\n\t"
				"movq %%rax, %%xmm13\n\t"
				"movq %%rax, %%xmm14\n\t"
				"movq %%rax, %%xmm15\n\t"
				"addq $0x7fffffff, %%rax\n\t"
			 :
			 :
			 : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "cc",
			   "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8",
			   "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
}
