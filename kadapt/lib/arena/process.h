/* SPDX-License-Identifier: MIT */
/* Whether this process may have an arena. */
#ifndef LIBKADAPT_PROCESS_H
#define LIBKADAPT_PROCESS_H

#include "base/device_file.h"

/*
 * Returns whether this program could neither notice an arena nor be harmed by it. Its
 * allocator must be the C library's, and all its callers of free() must reach this
 * library's. No limit may be set on its addresses or data, and the kernel must not count
 * memory strictly. All memory must be at one distance from all processors.
 */
KADAPT_HIDDEN int kadapt_process_allows_arena(void);

/* Returns whether operators new and delete are the C++ library's, which call malloc and free. */
KADAPT_HIDDEN int kadapt_process_has_plain_new(void);

#endif
