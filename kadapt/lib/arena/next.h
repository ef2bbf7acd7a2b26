/* SPDX-License-Identifier: MIT */
/* The functions of the C library that take blocks back, as this library defines them. */
#ifndef LIBKADAPT_ARENA_NEXT_H
#define LIBKADAPT_ARENA_NEXT_H

#include <stddef.h>

#include "base/device_file.h"

/*
 * References to them make the linker take the functions that set limits, and those
 * that change pages. Not 0.
 */
extern const int kadapt_limits_anchor KADAPT_HIDDEN;
extern const int kadapt_protect_anchor KADAPT_HIDDEN;

/* Whether everybody's free(), realloc() and so on in this process are this library's. */
KADAPT_HIDDEN int kadapt_is_free_ours(void);

/* The C library's own. */
KADAPT_HIDDEN void kadapt_next_free(void *block);
KADAPT_HIDDEN void *kadapt_next_realloc(void *block, size_t size);
KADAPT_HIDDEN size_t kadapt_next_malloc_usable_size(void *block);

#endif
