/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory whose pages the cases count. The figures come from the kernel, not the driver. */
#ifndef MEMORY_H
#define MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kadapt.h"

#define PAGE 4096UL
#define CHUNK ((size_t)KADAPT_MEMORY_CHUNK_DEFAULT)
#define CHUNK_PAGES (CHUNK / PAGE)

/* Return fresh private memory that begins at a multiple of the chunk; NULL on error. */
char *fresh_memory(size_t bytes);
char *fresh_memory_with(size_t bytes, int map_flags);

/* KADAPT_MEMORY with the default chunk. */
int bind_memory(int device, const void *address, size_t bytes, uint32_t flags);

/* The calling thread's page faults so far, as getrusage(2) counts them. */
long faults(void);

/* Returns how many pages of the memory are present, as mincore(2) reports it. */
size_t resident(const void *address, size_t bytes);

bool is_zero(const char *address, size_t bytes);

/* Writes into each page, from the first on. Returns the number of faults. */
long write_pages(char *address, size_t pages);

#endif
