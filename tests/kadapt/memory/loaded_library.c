/* SPDX-License-Identifier: GPL-2.0-or-later */
/* loading_program.c loads this library with dlopen(). */
#include "blocks_of_many_sizes.h"

unsigned char *make_in_library(size_t size);
unsigned char *resize_in_library(unsigned char *block, size_t size);
void free_in_library(unsigned char *block);

unsigned char *make_in_library(size_t size)
{
	unsigned char *block = malloc(size);

	fill(block, size, 21);
	return block;
}

unsigned char *resize_in_library(unsigned char *block, size_t size)
{
	return realloc(block, size);
}

void free_in_library(unsigned char *block)
{
	free(block);
}
