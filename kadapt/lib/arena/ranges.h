/* SPDX-License-Identifier: MIT */
/* Ranges of addresses of which the kernel is told how their page faults are to be served. */
#ifndef LIBKADAPT_RANGES_H
#define LIBKADAPT_RANGES_H

#include <stddef.h>
#include <stdint.h>

#include "base/device_file.h"

/* Whether this kernel can be told. */
KADAPT_HIDDEN int kadapt_range_is_known(void);

/* KADAPT_MEMORY with these flags; 1, or 0 where faults are served as ever. errno may change. */
KADAPT_HIDDEN int kadapt_range_bind(uintptr_t start, size_t bytes, uint32_t flags);

/* What the range is without a site. errno may change. */
KADAPT_HIDDEN void kadapt_range_forget(uintptr_t start, size_t bytes);

/* Some mapping of the program's own was bound; the one who sets it asks for the linker's help. */
extern _Atomic int kadapt_has_dense_mappings KADAPT_HIDDEN;
extern const int kadapt_unmap_anchor KADAPT_HIDDEN;

#endif
