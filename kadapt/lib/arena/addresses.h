/* SPDX-License-Identifier: MIT */
/* The addresses that the arena has reserved. */
#ifndef LIBKADAPT_ADDRESSES_H
#define LIBKADAPT_ADDRESSES_H

#include <stdint.h>

#include "base/device_file.h"

/* All of them; none while `kadapt_arena_bytes` is 0. */
extern uintptr_t kadapt_arena_start KADAPT_HIDDEN;
extern uintptr_t kadapt_arena_bytes KADAPT_HIDDEN;

static inline int kadapt_is_arenas(const void *address)
{
	return __builtin_expect((uintptr_t)address - kadapt_arena_start < kadapt_arena_bytes, 0);
}

#endif
