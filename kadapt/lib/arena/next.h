/* SPDX-License-Identifier: MIT */
/* The C library's functions that take blocks back, as this library defines them. */
#ifndef LIBKADAPT_ARENA_NEXT_H
#define LIBKADAPT_ARENA_NEXT_H

#include <stddef.h>

#include "base/device_file.h"

/*
 * References to them make the linker include the functions that set limits (limits.c)
 * and those that change pages (protect.c). Never 0.
 */
extern const int kadapt_limits_anchor KADAPT_HIDDEN;
extern const int kadapt_protect_anchor KADAPT_HIDDEN;

/* Returns whether all callers in this process reach this library's free(), realloc() and so on. */
KADAPT_HIDDEN int kadapt_is_free_ours(void);

/* The C library's own functions. */
KADAPT_HIDDEN void kadapt_next_free(void *block);
KADAPT_HIDDEN void *kadapt_next_realloc(void *block, size_t size);
KADAPT_HIDDEN size_t kadapt_next_malloc_usable_size(void *block);

#endif
