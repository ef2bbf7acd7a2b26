/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A site's block is freed. Then a block that no site takes comes from malloc's heap, not
 * from a mapping of its own, because malloc has learned. Prints the number of mappings.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "untouched_by_plan.h"

int main(void)
{
	void *site = malloc((size_t)4 << 20);
	void *other;

	__asm__ volatile("" : : "r"(site) : "memory");
	free(site);
	other = take_plainly((size_t)3 << 20);
	printf("%zu\n", mallinfo2().hblks);
	free(other);
	return 0;
}
