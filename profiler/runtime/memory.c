// SPDX-License-Identifier: MIT
#include "kprofile.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum { PIECE = 1 << 18, ALIGNMENT = 64 };

long call_kernel(long number, long a, long b, long c, long d, long e)
{
	register long fourth __asm__("r10") = d;
	register long fifth __asm__("r8") = e;
	register long sixth __asm__("r9") = 0;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
			 : "rcx", "r11", "memory");
	return result;
}

/* The caller holds the lock, unless there is no second thread yet. */
void *memory_take(size_t bytes)
{
	static char *rest;
	static size_t left;
	size_t size = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;

	if (size > left) {
		size_t wanted = size > PIECE ? size : PIECE;
		long place;
		register long descriptor __asm__("r8") = -1;
		register long offset __asm__("r9") = 0;
		register long flags __asm__("r10") = MAP_PRIVATE | MAP_ANONYMOUS;

		__asm__ volatile("syscall"
				 : "=a"(place)
				 : "a"(SYS_mmap), "D"(0), "S"(wanted), "d"(PROT_READ | PROT_WRITE),
				   "r"(flags), "r"(descriptor), "r"(offset)
				 : "rcx", "r11", "memory");
		if (place < 0 && place > -4096)
			return NULL;
		if (wanted > PIECE)
			return (void *)place;
		rest = (char *)place;
		left = wanted;
	}
	rest += size;
	left -= size;
	return rest - size;
}

void *memory_grow(void *memory, size_t bytes, size_t wanted)
{
	void *larger = memory_take(wanted);

	if (larger && bytes)
		memcpy(larger, memory, bytes);
	return larger;
}

static int holder;

bool lock(void)
{
	int self = (int)call_kernel(SYS_gettid, 0, 0, 0, 0, 0);
	int nobody = 0;

	if (__atomic_load_n(&holder, __ATOMIC_RELAXED) == self)
		return false;
	while (!__atomic_compare_exchange_n(&holder, &nobody, self, false, __ATOMIC_ACQUIRE,
					    __ATOMIC_RELAXED)) {
		nobody = 0;
		call_kernel(SYS_sched_yield, 0, 0, 0, 0, 0);
	}
	return true;
}

void unlock(void)
{
	__atomic_store_n(&holder, 0, __ATOMIC_RELEASE);
}

void lock_forget(void)
{
	unlock();
}
