// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program whose calls, page faults and waiting are known: one phase computes, one makes CALLS
 * calls that do nothing, one touches PAGES pages for the first time, and one sleeps 10 ms NAPS
 * times.
 */
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, NAP_NANOSECONDS = 10000000 };

static volatile unsigned long sum;

static __attribute__((noinline)) void call(void)
{
	for (int i = 0; i < CALLS; i++)
		syscall(SYS_getppid);
}

static __attribute__((noinline)) void touch(volatile char *memory)
{
	for (long i = 0; i < PAGES; i++) {
		memory[i * PAGE] = 1;
		for (int j = 0; j < 100; j++)
			sum += j;
	}
}

static __attribute__((noinline)) void compute(void)
{
	for (int i = 0; i < 4000000; i++)
		sum = sum * 3 + 1;
}

static __attribute__((noinline)) void nap(void)
{
	struct timespec time = {0, NAP_NANOSECONDS};

	for (int i = 0; i < NAPS; i++) {
		nanosleep(&time, NULL);
		for (int j = 0; j < 100000; j++)
			sum ^= sum << 1;
	}
}

int main(void)
{
	int kind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	char *memory = mmap(NULL, (long)PAGES * PAGE, PROT_READ | PROT_WRITE, kind, -1, 0);

	madvise(memory, (long)PAGES * PAGE, MADV_NOHUGEPAGE);
	compute();
	call();
	touch(memory);
	nap();
	return 0;
}
