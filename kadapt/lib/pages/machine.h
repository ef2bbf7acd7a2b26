/* SPDX-License-Identifier: MIT */
/* What the arena needs to know about the machine's memory and the process's. */
#ifndef LIBKADAPT_MACHINE_H
#define LIBKADAPT_MACHINE_H

#include <stddef.h>

#include "base/device_file.h"

#define KADAPT_PAGE_SHIFT 12
#define KADAPT_PAGE_BYTES ((size_t)1 << KADAPT_PAGE_SHIFT)

/* Reads the beginning of a file as a string. Returns its length, or 0 if it cannot be read. */
KADAPT_HIDDEN size_t kadapt_machine_read_file(const char *name, char *text, size_t room);

/* Returns whether a small file contains this text. False if the file cannot be read. */
KADAPT_HIDDEN int kadapt_machine_file_has(const char *name, const char *text);

/* Returns the size of the machine's memory in bytes. */
KADAPT_HIDDEN size_t kadapt_machine_bytes(void);

/* Returns the bytes of memory that are available now, file caches included. */
KADAPT_HIDDEN size_t kadapt_machine_bytes_available(void);

/* Returns whether at least `bytes` are available. Cheap while much memory is free. */
KADAPT_HIDDEN int kadapt_machine_has_available(size_t bytes);

/* Returns the peak of this process's resident memory in bytes. */
KADAPT_HIDDEN size_t kadapt_machine_peak_resident(void);

#endif
