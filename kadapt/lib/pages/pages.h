/* SPDX-License-Identifier: MIT */
/*
 * What the arena asks of the kernel for pages of its own, by system calls: the
 * names of the C library are interposed (protect.c). errno may change.
 */
#ifndef LIBKADAPT_PAGES_H
#define LIBKADAPT_PAGES_H

#include <stddef.h>

#include "base/device_file.h"

#define KADAPT_HUGE_BYTES ((size_t)2 << 20)

/* Addresses without memory; NULL where there are none. */
KADAPT_HIDDEN void *kadapt_pages_reserve(size_t bytes);

/* Memory for addresses that have none, counted by the kernel as malloc's would be; 1 or 0. */
KADAPT_HIDDEN int kadapt_pages_open(void *start, size_t bytes);

/* Addresses only, from here on; 1, or 0 and they are what they were. Not even that once retired. */
KADAPT_HIDDEN int kadapt_pages_close(void *start, size_t bytes);

/*
 * The contents of these are nobody's, but the pages are wanted again: the kernel
 * may take them where memory is short; 1 or 0.
 */
KADAPT_HIDDEN int kadapt_pages_idle(void *start, size_t bytes);

/*
 * The pages themselves, without a fault and a copy; what was at `to` is gone, and
 * `from` is as new. 1, or 0 and nothing has changed.
 */
KADAPT_HIDDEN int kadapt_pages_move(void *to, void *from, size_t bytes);

/* The contents, piece by piece; nothing is resident twice. */
KADAPT_HIDDEN void kadapt_pages_copy(char *to, char *from, size_t bytes);

/* Empties pages that stay accessible. */
KADAPT_HIDDEN void kadapt_pages_drop(void *start, size_t bytes);

/* They are nobody's addresses any more. */
KADAPT_HIDDEN int kadapt_pages_unmap(void *start, size_t bytes);

/* From here on what is closed is nobody's addresses either. */
KADAPT_HIDDEN void kadapt_pages_retire(void);

/* Whether blocks that begin at a multiple of KADAPT_HUGE_BYTES can be had in huge pages. */
KADAPT_HIDDEN int kadapt_pages_has_huge(void);

/* Asks for huge pages for a block, as far as whole ones are in it. */
KADAPT_HIDDEN void kadapt_pages_ask_huge(char *start, size_t bytes);

/* Makes pages present that will all be written; 1, or 0 where the kernel did not. */
KADAPT_HIDDEN int kadapt_pages_populate(void *start, size_t bytes);

#endif
