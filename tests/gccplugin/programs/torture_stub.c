/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions of libkadapt that adapted programs call, for the torture tests.
 *
 * A redirected call does what its original does. A batch call writes only the first piece and
 * reports that this piece was not written whole. The loop then makes the remaining calls itself.
 *
 * The phase call overwrites every register that the calling convention permits. A program fails if
 * the plugin overlooked a live register at a marker. The tests link this file from an archive, so a
 * program without markers does not contain it.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

void kadapt_phase_enter(unsigned phase);
extern const int kadapt_filter_anchor;
const int kadapt_filter_anchor = 1; /* as in plans with a quantum */

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

/* FORWARD(type, name, (parameters), (arguments)): defines libkadapt's counterpart of a function. */
#define FORWARD(type, name, parameters, arguments)                                                 \
	type kadapt_##name parameters;                                                             \
	type kadapt_##name parameters                                                              \
	{                                                                                          \
		return name arguments;                                                             \
	}

FORWARD(ssize_t, write, (int fd, const void *data, size_t size), (fd, data, size))
FORWARD(ssize_t, writev, (int fd, const struct iovec *pieces, int count), (fd, pieces, count))
FORWARD(int, fflush, (FILE * stream), (stream))
FORWARD(int, fflush_unlocked, (FILE * stream), (stream))

/* FORWARD for functions that allocate memory: the last parameter holds the plan's treatments. */
#define FORWARD_MEMORY(name, parameters, arguments)                                                \
	void *kadapt_##name parameters;                                                            \
	void *kadapt_##name parameters                                                             \
	{                                                                                          \
		(void)treatments;                                                                  \
		return name arguments;                                                             \
	}

FORWARD_MEMORY(malloc, (size_t size, unsigned int treatments), (size))
FORWARD_MEMORY(calloc, (size_t count, size_t size, unsigned int treatments), (count, size))
FORWARD_MEMORY(realloc, (void *block, size_t size, unsigned int treatments), (block, size))
FORWARD_MEMORY(aligned_alloc, (size_t alignment, size_t size, unsigned int treatments),
	       (alignment, size))
FORWARD_MEMORY(mmap,
	       (void *address, size_t size, int protection, int flags, int fd, off_t offset,
		unsigned int treatments),
	       (address, size, protection, flags, fd, offset))

int64_t kadapt_batch_write(int fd, const void *base, uint64_t size, uint64_t stride, uint64_t count,
			   int64_t *last);
int64_t kadapt_batch_write(int fd, const void *base, uint64_t size, uint64_t stride, uint64_t count,
			   int64_t *last)
{
	(void)stride;
	(void)count;
	*last = write(fd, base, size);
	return 0;
}
