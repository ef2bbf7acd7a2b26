// SPDX-License-Identifier: MIT
/*
 * These replace C++'s operator new. Where the arena does not serve the call, they call the
 * original. So failures, handlers and exceptions are the original's.
 */
#include <stdatomic.h>
#include <stddef.h>

#include "arena/arena.h"
#include "arena/process.h"
#include "libkadapt.h"

/* Looked up at the first large block: by then the C++ library is loaded. */
static int is_plain_new(void)
{
	enum { UNKNOWN, PLAIN, OWN };
	static _Atomic int found;
	int known = atomic_load_explicit(&found, memory_order_relaxed);

	if (known == UNKNOWN) {
		known = kadapt_process_has_plain_new() ? PLAIN : OWN;
		atomic_store_explicit(&found, known, memory_order_relaxed);
	}
	return known == PLAIN;
}

static void *take(size_t size, size_t alignment, unsigned int treatments)
{
	size_t dirty;

	if (size < atomic_load_explicit(&kadapt_memory_least, memory_order_relaxed) ||
	    !is_plain_new())
		return NULL;
	return kadapt_arena_take(size, alignment, treatments, &dirty);
}

/*
 * The originals, by their assembler names. They are weak, because a program need not
 * contain all of them. The plugin ensures that it contains those that are redirected.
 */
#define ORIGINAL(name, parameters) void *name parameters __attribute__((weak))

ORIGINAL(_Znwm, (size_t size));
ORIGINAL(_Znam, (size_t size));
ORIGINAL(_ZnwmRKSt9nothrow_t, (size_t size, const void *nothrow));
ORIGINAL(_ZnamRKSt9nothrow_t, (size_t size, const void *nothrow));
ORIGINAL(_ZnwmSt11align_val_t, (size_t size, size_t alignment));
ORIGINAL(_ZnamSt11align_val_t, (size_t size, size_t alignment));
ORIGINAL(_ZnwmSt11align_val_tRKSt9nothrow_t, (size_t size, size_t alignment, const void *nothrow));
ORIGINAL(_ZnamSt11align_val_tRKSt9nothrow_t, (size_t size, size_t alignment, const void *nothrow));

void *kadapt__Znwm(size_t size, unsigned int treatments)
{
	void *block = take(size, 1, treatments);

	return block ? block : _Znwm(size);
}

void *kadapt__Znam(size_t size, unsigned int treatments)
{
	void *block = take(size, 1, treatments);

	return block ? block : _Znam(size);
}

void *kadapt__ZnwmRKSt9nothrow_t(size_t size, const void *nothrow, unsigned int treatments)
{
	void *block = take(size, 1, treatments);

	return block ? block : _ZnwmRKSt9nothrow_t(size, nothrow);
}

void *kadapt__ZnamRKSt9nothrow_t(size_t size, const void *nothrow, unsigned int treatments)
{
	void *block = take(size, 1, treatments);

	return block ? block : _ZnamRKSt9nothrow_t(size, nothrow);
}

void *kadapt__ZnwmSt11align_val_t(size_t size, size_t alignment, unsigned int treatments)
{
	void *block = take(size, alignment, treatments);

	return block ? block : _ZnwmSt11align_val_t(size, alignment);
}

void *kadapt__ZnamSt11align_val_t(size_t size, size_t alignment, unsigned int treatments)
{
	void *block = take(size, alignment, treatments);

	return block ? block : _ZnamSt11align_val_t(size, alignment);
}

void *kadapt__ZnwmSt11align_val_tRKSt9nothrow_t(size_t size, size_t alignment, const void *nothrow,
						unsigned int treatments)
{
	void *block = take(size, alignment, treatments);

	return block ? block : _ZnwmSt11align_val_tRKSt9nothrow_t(size, alignment, nothrow);
}

void *kadapt__ZnamSt11align_val_tRKSt9nothrow_t(size_t size, size_t alignment, const void *nothrow,
						unsigned int treatments)
{
	void *block = take(size, alignment, treatments);

	return block ? block : _ZnamSt11align_val_tRKSt9nothrow_t(size, alignment, nothrow);
}
