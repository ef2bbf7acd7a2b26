/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pages of blocks that are made inaccessible, and not made accessible again when they are freed. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#include "blocks_of_many_sizes.h"

#define PAGE 4096
/* Above what malloc ever takes from its heap, where the guard would be the next block's, too. */
#define BYTES ((size_t)40 << 20)

static sigjmp_buf before_touch;

static void leave(int number)
{
	(void)number;
	siglongjmp(before_touch, 1);
}

static const char *touch(volatile unsigned char *place)
{
	if (sigsetjmp(before_touch, 1))
		return "caught";
	*place = 1;
	return "written";
}

/* Freed as it is, as a program may that gets its guards from posix_memalign. */
static void guard_and_free(int round)
{
	void *block;

	if (posix_memalign(&block, PAGE, BYTES))
		exit(1);
	memset(block, round, BYTES);
	if (mprotect((char *)block + 8 * PAGE, PAGE, PROT_NONE))
		exit(1);
	printf("%s %s\n", touch(block), touch((unsigned char *)block + 8 * PAGE + 1));
	if (round % 2 && mprotect((char *)block + 8 * PAGE, PAGE, PROT_READ | PROT_WRITE))
		exit(1);
	free(block);
}

static void overwrite_whole(void)
{
	unsigned char *block = malloc(BYTES);

	fill(block, BYTES, 5);
	check(block, BYTES, 5);
	free(block);
}

int main(void)
{
	signal(SIGSEGV, leave);
	for (int round = 1; round <= 4; round++) {
		overwrite_whole();
		guard_and_free(round);
		overwrite_whole();
	}
	return 0;
}
