/* SPDX-License-Identifier: MIT */
/* Whether this process is one for an arena. */
#ifndef LIBKADAPT_PROCESS_H
#define LIBKADAPT_PROCESS_H

#include "base/device_file.h"

/*
 * Whether an arena could neither be seen by this program nor hurt it: its
 * allocator is the C library's, this library's free() is everybody's, no limit is
 * set on addresses, and memory has one distance to all processors.
 */
KADAPT_HIDDEN int kadapt_process_allows_arena(void);

/* Whether operator new and delete are the C++ library's, and so come down to malloc and free. */
KADAPT_HIDDEN int kadapt_process_has_plain_new(void);

#endif
