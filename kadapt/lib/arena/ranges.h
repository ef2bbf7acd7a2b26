/* SPDX-License-Identifier: MIT */
/* Ranges: the library tells the kernel how to serve their page faults. */
#ifndef LIBKADAPT_RANGES_H
#define LIBKADAPT_RANGES_H

#include <stddef.h>
#include <stdint.h>

#include "base/device_file.h"

/* Returns whether this kernel serves ranges. */
KADAPT_HIDDEN int kadapt_range_is_known(void);

/* Calls KADAPT_MEMORY with these flags. Returns 1, or 0 on failure. errno may change. */
KADAPT_HIDDEN int kadapt_range_bind(uintptr_t start, size_t bytes, uint32_t flags);

/* Treats the range as memory that no site allocated. errno may change. */
KADAPT_HIDDEN void kadapt_range_unbind(uintptr_t start, size_t bytes);

/*
 * Not 0 once a mapping of a site was bound. Code that sets it does so from
 * kadapt_unmap_anchor, a reference that makes the linker include munmap() (unmap.c).
 */
extern _Atomic int kadapt_has_dense_mappings KADAPT_HIDDEN;
extern const int kadapt_unmap_anchor KADAPT_HIDDEN;

#endif
