/* SPDX-License-Identifier: MIT */
/*
 * The system calls for the arena's pages. They do not go through the C library's
 * functions, because those are interposed (protect.c). errno may change.
 */
#ifndef LIBKADAPT_PAGES_H
#define LIBKADAPT_PAGES_H

#include <stddef.h>

#include "base/device_file.h"

#define KADAPT_HUGE_BYTES ((size_t)2 << 20)

/* Reserves addresses without memory. Returns NULL if there are none. */
KADAPT_HIDDEN void *kadapt_pages_reserve(size_t bytes);

/* Makes reserved addresses accessible. The kernel counts them like malloc's. Returns 1 or 0. */
KADAPT_HIDDEN int kadapt_pages_open(void *start, size_t bytes);

/*
 * Gives the memory back and keeps the addresses reserved. After kadapt_pages_retire() it
 * unmaps the addresses, too. Returns 1, or 0 if nothing changed.
 */
KADAPT_HIDDEN int kadapt_pages_close(void *start, size_t bytes);

/*
 * Nobody needs the contents, but the pages will be used again: the kernel may take them
 * if memory is short. Returns 1 or 0.
 */
KADAPT_HIDDEN int kadapt_pages_idle(void *start, size_t bytes);

/*
 * Moves the pages themselves, without a page fault or a copy. They replace the pages at
 * `to`; `from` is empty then. Returns 1, or 0 if nothing changed.
 */
KADAPT_HIDDEN int kadapt_pages_move(void *to, void *from, size_t bytes);

/* Copies contents in pieces of KADAPT_HUGE_BYTES and drops each piece of `from` at once. */
KADAPT_HIDDEN void kadapt_pages_copy(char *to, char *from, size_t bytes);

/* Empties pages. They stay accessible. */
KADAPT_HIDDEN void kadapt_pages_drop(void *start, size_t bytes);

/* Unmaps the addresses. Returns 1 or 0. */
KADAPT_HIDDEN int kadapt_pages_unmap(void *start, size_t bytes);

/* From here on kadapt_pages_close() unmaps the addresses. */
KADAPT_HIDDEN void kadapt_pages_retire(void);

/* Returns whether blocks that begin at a multiple of KADAPT_HUGE_BYTES can get huge pages. */
KADAPT_HIDDEN int kadapt_pages_has_huge(void);

/* Asks for huge pages in a block: only for whole ones, unless the kernel offers smaller sizes. */
KADAPT_HIDDEN void kadapt_pages_ask_huge(char *start, size_t bytes);

/* Makes pages present that will all be written. Returns 1, or 0 if the kernel did not. */
KADAPT_HIDDEN int kadapt_pages_populate(void *start, size_t bytes);

#endif
