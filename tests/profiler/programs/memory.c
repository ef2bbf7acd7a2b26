/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each function asks for memory at one site and touches a known number of its pages. */

#define _GNU_SOURCE
#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, HEADER = 32, DENSE = 512, SPREAD = 8192, STEP = 16, TIMES = 5, PARTS = 8 };

static volatile unsigned sink;

static void work(void)
{
	for (unsigned i = 0; i < 1000; i++)
		sink += i;
}

static void touch(volatile char *block, int pages)
{
	for (int page = 0; page < pages; page++)
		block[page * PAGE] = 1;
}

/* The size for which malloc maps exactly this many pages. */
#define BLOCK(pages) ((size_t)(pages)*PAGE - HEADER)

__attribute__((noinline)) static void upwards(void)
{
	volatile char *block = malloc(BLOCK(DENSE));

	for (int page = 0; page < DENSE; page++) {
		block[page * PAGE] = 1;
		work();
	}
	free((void *)block);
}

__attribute__((noinline)) static void downwards(void)
{
	volatile char *block =
	    mmap(NULL, DENSE * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (int page = DENSE - 1; page >= 0; page--) {
		block[page * PAGE] = 1;
		work();
	}
	munmap((void *)block, DENSE * PAGE);
}

__attribute__((noinline)) static void sparse(void)
{
	volatile char *block = mmap(NULL, (size_t)SPREAD * PAGE, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	for (int page = 0; page < SPREAD; page += STEP) {
		block[(size_t)page * PAGE] = 1;
		work();
	}
}

__attribute__((noinline)) static void again(void)
{
	for (int i = 0; i < TIMES; i++) {
		volatile char *block = calloc(1, BLOCK(DENSE));

		touch(block, DENSE);
		free((void *)block);
	}
}

__attribute__((noinline)) static void discarded(void)
{
	volatile char *block =
	    mmap(NULL, DENSE * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (int i = 0; i < 2; i++) {
		touch(block, DENSE);
		madvise((void *)block, DENSE * PAGE, MADV_DONTNEED);
	}
	touch(block, DENSE / 2);
	munmap((void *)block + DENSE * PAGE / 2, DENSE * PAGE / 2);
}

__attribute__((noinline)) static void forked(void)
{
	volatile char *block = malloc(BLOCK(DENSE));
	pid_t child;

	touch(block, DENSE);
	child = fork();
	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
	free((void *)block);
}

__attribute__((noinline)) static void moved(void)
{
	volatile char *block = NULL;
	size_t filled = 0;

	for (int part = 1; part <= PARTS; part++) {
		block = realloc((void *)block, BLOCK(part * DENSE));
		touch(block + filled, DENSE);
		filled += DENSE * PAGE;
	}
	free((void *)block);
}

/* Small blocks, for which the heap grows. */
__attribute__((noinline)) static void grown(void)
{
	for (int i = 0; i < DENSE; i++)
		touch(malloc(PAGE - HEADER), 1);
}

__attribute__((noinline)) static void stacked(void)
{
	volatile char frame[DENSE * PAGE];

	for (int page = DENSE - 1; page >= 0; page--)
		frame[page * PAGE] = 1;
}

int main(void)
{
	mallopt(M_MMAP_THRESHOLD, 32 * PAGE);
	upwards();
	downwards();
	sparse();
	again();
	discarded();
	moved();
	grown();
	stacked();
	forked();
	return 0;
}
