/* SPDX-License-Identifier: MIT */
/* What of this machine the arena has to know, and of what it takes of it. */
#ifndef LIBKADAPT_MACHINE_H
#define LIBKADAPT_MACHINE_H

#include <stddef.h>

#include "base/device_file.h"

#define KADAPT_PAGE_SHIFT 12
#define KADAPT_PAGE_BYTES ((size_t)1 << KADAPT_PAGE_SHIFT)

/* The beginning of a file of the kernel's, as a string; how long, 0 where it can't be read. */
KADAPT_HIDDEN size_t kadapt_machine_read_file(const char *name, char *text, size_t room);

/* Whether a small file of the kernel's contains this text; one that can't be read does not. */
KADAPT_HIDDEN int kadapt_machine_file_has(const char *name, const char *text);

/* Bytes of memory that the machine has. */
KADAPT_HIDDEN size_t kadapt_machine_bytes(void);

/* Bytes of it that could be had now, what caches of files hold included. */
KADAPT_HIDDEN size_t kadapt_machine_bytes_available(void);

/* Whether that is so much at least; cheap where much is free. */
KADAPT_HIDDEN int kadapt_machine_has_available(size_t bytes);

/* The most that was ever resident of this process, in bytes. */
KADAPT_HIDDEN size_t kadapt_machine_peak_resident(void);

#endif
