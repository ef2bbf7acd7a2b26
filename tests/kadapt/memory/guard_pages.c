/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes a page of a block inaccessible. Some blocks are freed with that page still inaccessible. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#include "blocks_of_many_sizes.h"

#define PAGE 4096
/* malloc maps blocks of this size. In its heap the next block would inherit the guard page. */
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

/* In even rounds frees the block with its guard page. posix_memalign's callers may do so. */
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
