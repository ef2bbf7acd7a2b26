/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MIX_H
#define MIX_H

#include <stddef.h>
#include <stdint.h>

#define BYTES_MAX 65536

/* The next choice, below this. */
uint32_t any(uint32_t below);

/* So many, which differ from choice to choice. */
const char *bytes(size_t size);

uint64_t hash(uint64_t before, const void *from, size_t size);

/* What the two builds must agree on. */
void tell(const char *what, long value);

/* Let others run for a moment. */
void yield(void);

int mix_file(int count);

#endif
