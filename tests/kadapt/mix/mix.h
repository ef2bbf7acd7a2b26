/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MIX_H
#define MIX_H

#include <stddef.h>
#include <stdint.h>

#define BYTES_MAX 65536

/* Returns the next pseudo-random number, less than `below`. */
uint32_t any(uint32_t below);

/* Returns `size` letters; which ones depends on the latest number from any(). */
const char *bytes(size_t size);

uint64_t hash(uint64_t before, const void *from, size_t size);

/* Prints a value that must be the same in all builds. */
void tell(const char *what, long value);

/* Lets other threads and processes run for up to 3 ms. */
void yield(void);

int mix_file(int count);

#endif
