// SPDX-License-Identifier: GPL-2.0-or-later
/* Whatever else a program does with its memory, it behaves as without ranges. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device.h"
#include "harness.h"
#include "memory.h"

static int bind_raw(int device, struct kadapt_memory memory)
{
	return ioctl(device, KADAPT_MEMORY, &memory);
}

static enum outcome test_errors(void)
{
	const uint32_t dense = KADAPT_MEMORY_DENSE;
	const uint64_t place = 1ULL << 32;
	int device = open_device();
	const struct kadapt_memory invalid[] = {
	    {.address = place, .bytes = PAGE, .flags = 0},
	    {.address = place, .bytes = PAGE, .flags = dense | KADAPT_MEMORY__ALL << 1},
	    {.address = place, .bytes = PAGE, .flags = dense | KADAPT_MEMORY_AHEAD},
	    {.address = place, .bytes = PAGE, .flags = dense | KADAPT_MEMORY_PLAIN},
	    {.address = place, .bytes = PAGE, .flags = KADAPT_MEMORY_AHEAD | KADAPT_MEMORY_NOW},
	    {.address = place, .bytes = PAGE, .flags = dense, .reserved = 1},
	    {.address = place + 1, .bytes = PAGE, .flags = dense},
	    {.address = place, .bytes = PAGE + 1, .flags = dense},
	    {.address = place, .bytes = 0, .flags = dense},
	    {.address = place, .bytes = PAGE, .flags = dense, .chunk_bytes = 3 * PAGE},
	    {.address = place, .bytes = PAGE, .flags = dense, .chunk_bytes = PAGE / 2},
	    {.address = place, .bytes = -PAGE, .flags = dense},
	    {.address = -PAGE, .bytes = PAGE, .flags = dense},
	};

	for (size_t i = 0; i < sizeof(invalid) / sizeof(*invalid); i++)
		CHECK_ERRNO(bind_raw(device, invalid[i]), EINVAL);
	CHECK_ERRNO(bind_raw(device,
			     (struct kadapt_memory){
				 .address = place,
				 .bytes = PAGE,
				 .flags = dense,
				 .chunk_bytes = 2 * KADAPT_MEMORY_CHUNK_MAX,
			     }),
		    ERANGE);
	return PASSED;
}

static enum outcome test_enospc(void)
{
	char *place = (char *)(1UL << 32);
	int device = open_device();

	for (size_t i = 0; i < KADAPT_MEMORY_RANGES; i++)
		CHECK(bind_memory(device, place + 2 * i * PAGE, PAGE, KADAPT_MEMORY_DENSE) == 0);
	CHECK_ERRNO(bind_memory(device, place - 2 * PAGE, PAGE, KADAPT_MEMORY_DENSE), ENOSPC);
	/* Removing a range makes room for another one. */
	CHECK(bind_memory(device, place, PAGE, KADAPT_MEMORY_PLAIN) == 0);
	CHECK(bind_memory(device, place - 2 * PAGE, PAGE, KADAPT_MEMORY_DENSE) == 0);
	CHECK_ERRNO(bind_memory(device, place, PAGE, KADAPT_MEMORY_DENSE), ENOSPC);
	return PASSED;
}

/* Adjacent ranges of the same kind become one range. */
static enum outcome test_joined(void)
{
	char *place = (char *)(1UL << 32);
	int device = open_device();

	for (size_t i = 0; i < 2 * KADAPT_MEMORY_RANGES; i++)
		CHECK(bind_memory(device, place + i * PAGE, PAGE, KADAPT_MEMORY_AHEAD) == 0);
	return PASSED;
}

static enum outcome test_dontneed(void)
{
	char *memory = fresh_memory(CHUNK);
	int device = open_device();

	CHECK(memory && bind_memory(device, memory, CHUNK, KADAPT_MEMORY_DENSE) == 0);
	for (int round = 0; round < 20; round++) {
		CHECK(write_pages(memory, CHUNK_PAGES) == 1);
		memset(memory, 0xff, CHUNK);
		CHECK(madvise(memory, CHUNK, MADV_DONTNEED) == 0);
		CHECK(resident(memory, CHUNK) == 0);
		CHECK(is_zero(memory, CHUNK));
		CHECK(madvise(memory, CHUNK, MADV_DONTNEED) == 0);
	}
	return PASSED;
}

/* The range stays when the memory in it is unmapped. */
static enum outcome test_mapped_again(void)
{
	char *memory = fresh_memory(CHUNK);
	int device = open_device();

	CHECK(memory && bind_memory(device, memory, CHUNK, KADAPT_MEMORY_DENSE) == 0);
	for (int round = 0; round < 20; round++) {
		CHECK(write_pages(memory, CHUNK_PAGES) == 1);
		CHECK(munmap(memory, CHUNK) == 0);
		CHECK(mmap(memory, CHUNK, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == memory);
		CHECK(is_zero(memory, CHUNK));
		CHECK(madvise(memory, CHUNK, MADV_DONTNEED) == 0);
	}
	return PASSED;
}

static enum outcome test_moved(void)
{
	char *memory = fresh_memory(2 * CHUNK), *moved;
	int device = open_device();

	CHECK(memory && bind_memory(device, memory, CHUNK, KADAPT_MEMORY_DENSE) == 0);
	CHECK(write_pages(memory, CHUNK_PAGES) == 1);
	moved = mremap(memory, CHUNK, 2 * CHUNK, MREMAP_MAYMOVE | MREMAP_FIXED,
		       fresh_memory(2 * CHUNK));
	CHECK(moved != MAP_FAILED);
	for (size_t i = 0; i < CHUNK_PAGES; i++)
		CHECK(moved[i * PAGE] == (char)(i + 1));
	CHECK(is_zero(moved + CHUNK, CHUNK));
	/* The range did not move with the contents. */
	CHECK(madvise(moved, CHUNK, MADV_DONTNEED) == 0);
	CHECK(write_pages(moved, CHUNK_PAGES) == CHUNK_PAGES);
	return PASSED;
}

static int child_of_dense(void *argument)
{
	char *memory = argument;

	/* The child has what the parent wrote. Other pages come one by one: it has no range. */
	for (size_t i = 0; i < CHUNK_PAGES; i++)
		if (memory[i * PAGE] != (char)(i + 1))
			return 1;
	memset(memory, 0x5a, CHUNK);
	return write_pages(memory + CHUNK, CHUNK_PAGES) != CHUNK_PAGES;
}

static enum outcome test_fork(void)
{
	char *memory = fresh_memory(3 * CHUNK);
	int device = open_device();

	CHECK(memory && bind_memory(device, memory, 3 * CHUNK, KADAPT_MEMORY_DENSE) == 0);
	CHECK(write_pages(memory, CHUNK_PAGES) == 1);
	memory[2 * CHUNK] = 1;
	CHECK(in_child(child_of_dense, memory) == 0);
	for (size_t i = 0; i < CHUNK_PAGES; i++)
		CHECK(memory[i * PAGE] == (char)(i + 1));
	CHECK(resident(memory + CHUNK, CHUNK) == 0);
	memset(memory + 2 * CHUNK, 1, CHUNK);
	CHECK(write_pages(memory + CHUNK, CHUNK_PAGES) == 1);
	return PASSED;
}

static sigjmp_buf after_fault;

static void on_fault(int signal)
{
	(void)signal;
	siglongjmp(after_fault, 1);
}

static bool writing_faults(char *address)
{
	if (sigsetjmp(after_fault, 1))
		return true;
	*(volatile char *)address = 1;
	return false;
}

static enum outcome test_protected(void)
{
	char *memory = fresh_memory(CHUNK);
	int device = open_device();

	signal(SIGSEGV, on_fault);
	CHECK(memory && bind_memory(device, memory, CHUNK, KADAPT_MEMORY_DENSE) == 0);
	CHECK(mprotect(memory + 10 * PAGE, PAGE, PROT_NONE) == 0);
	CHECK(mprotect(memory + 20 * PAGE, PAGE, PROT_READ) == 0);
	memory[0] = memory[11 * PAGE] = memory[21 * PAGE] = 1;
	CHECK(resident(memory, CHUNK) == CHUNK_PAGES - 2);
	CHECK(writing_faults(memory + 10 * PAGE) && writing_faults(memory + 20 * PAGE));
	CHECK(memory[20 * PAGE] == 0);
	/* Access to present pages can be removed and restored. */
	CHECK(mprotect(memory, CHUNK, PROT_READ) == 0 && writing_faults(memory));
	CHECK(mprotect(memory, CHUNK, PROT_READ | PROT_WRITE) == 0);
	CHECK(!writing_faults(memory) && !writing_faults(memory + 10 * PAGE));
	CHECK(memory[11 * PAGE] == 1 && memory[21 * PAGE] == 1);
	return PASSED;
}

/* Faults in locked and in shared memory are served as without the range. */
static enum outcome test_other_memory(void)
{
	int device = open_device();
	char *shared = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char *locked = fresh_memory(CHUNK);

	CHECK(shared != MAP_FAILED && locked);
	CHECK(bind_memory(device, shared, CHUNK, KADAPT_MEMORY_DENSE) == 0);
	CHECK(write_pages(shared, CHUNK_PAGES) == CHUNK_PAGES);
	CHECK(bind_memory(device, locked, CHUNK, KADAPT_MEMORY_DENSE) == 0);
	CHECK(mlock2(locked, CHUNK, MLOCK_ONFAULT) == 0);
	CHECK(write_pages(locked, 10) == 10);
	CHECK(resident(locked, CHUNK) == 10);
	return PASSED;
}

static enum outcome test_noreserve(void)
{
	const size_t bytes = 1UL << 36, step = 1UL << 28;
	char *memory = fresh_memory_with(bytes, MAP_NORESERVE);
	int device = open_device();

	CHECK(memory && bind_memory(device, memory, bytes, KADAPT_MEMORY_AHEAD) == 0);
	for (size_t offset = 0; offset < bytes; offset += step)
		memory[offset] = 1;
	for (size_t offset = 0; offset < bytes; offset += step)
		CHECK(resident(memory + offset, CHUNK) == 1);
	return PASSED;
}

static int sum_of_frames(int depth)
{
	volatile char frame[3 * PAGE];

	for (size_t i = 0; i < sizeof(frame); i += 64)
		frame[i] = (char)depth;
	return depth ? sum_of_frames(depth - 1) + (frame[PAGE] == (char)depth) : 0;
}

static int overflow(void *argument)
{
	(void)argument;
	return sum_of_frames(1 << 20);
}

/* A stack grows as without the range, and its overflow ends the process. */
static enum outcome test_stack(void)
{
	int device = open_device(), status = 0;
	char *top = (char *)((uintptr_t)__builtin_frame_address(0) & ~(PAGE - 1)) + PAGE;
	pid_t pid;

	CHECK(bind_memory(device, top - 4 * CHUNK, 4 * CHUNK, KADAPT_MEMORY_AHEAD) == 0);
	CHECK(sum_of_frames(400) == 400);
	pid = fork();
	if (pid == 0) {
		setrlimit(RLIMIT_CORE, &(struct rlimit){0});
		CHECK(bind_memory(open_device(), top - 4 * CHUNK, 4 * CHUNK, KADAPT_MEMORY_AHEAD) ==
		      0);
		_exit(overflow(NULL));
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	return PASSED;
}

#define THREADS 4

struct share {
	char *memory;
	size_t pages;
	unsigned char mark;
};

/* Each thread writes every fourth page, upwards or downwards, and yields now and then. */
static void *write_share(void *argument)
{
	const struct share *share = argument;

	for (size_t i = 0; i < share->pages; i++) {
		size_t page = share->mark % 2 ? i : share->pages - 1 - i;

		if (page % THREADS != share->mark % THREADS)
			continue;
		memset(share->memory + page * PAGE, share->mark, PAGE);
		if (i % 7 == 0)
			sched_yield();
	}
	return NULL;
}

static enum outcome test_threads(void)
{
	size_t pages = 8 * CHUNK_PAGES;
	char *memory = fresh_memory(pages * PAGE);
	struct share shares[THREADS];
	pthread_t threads[THREADS];
	int device = open_device();

	CHECK(memory && bind_memory(device, memory, pages * PAGE / 2, KADAPT_MEMORY_DENSE) == 0);
	CHECK(bind_memory(device, memory + pages * PAGE / 2, pages * PAGE / 2,
			  KADAPT_MEMORY_AHEAD) == 0);
	for (int i = 0; i < THREADS; i++) {
		shares[i] = (struct share){memory, pages, (unsigned char)(i + THREADS)};
		CHECK(pthread_create(&threads[i], NULL, write_share, &shares[i]) == 0);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (size_t page = 0; page < pages; page++) {
		const char *first = memory + page * PAGE;

		CHECK(*first == (char)(page % THREADS + THREADS));
		CHECK(!memcmp(first, first + 1, PAGE - 1));
	}
	return PASSED;
}

#define MOST_FILLED (1UL << 30)

/*
 * Writes one page of every chunk of twice the machine's memory, so that whole chunks are
 * made present. Then fills other memory, three quarters of what was free. This fits
 * because the kernel takes back pages that hold zeroes.
 */
static enum outcome test_short(void)
{
	int device = open_device();
	struct sysinfo machine;
	size_t sparse, needed;
	char *memory, *other;

	CHECK(sysinfo(&machine) == 0);
	if (machine.totalram > MOST_FILLED)
		return skip("this machine has more memory than a case can fill");
	sparse = (2 * machine.totalram) / CHUNK * CHUNK;
	needed = machine.freeram / 4 * 3 / PAGE * PAGE;
	memory = fresh_memory_with(sparse, MAP_NORESERVE);
	other = fresh_memory(needed);
	CHECK(memory && other && bind_memory(device, memory, sparse, KADAPT_MEMORY_DENSE) == 0);
	for (size_t offset = 0; offset < sparse; offset += CHUNK)
		memset(memory + offset + 3 * PAGE, 0x7e, PAGE);
	memset(other, 1, needed);
	for (size_t offset = 0; offset < sparse; offset += CHUNK) {
		CHECK(*(volatile char *)(memory + offset) == 0);
		CHECK(memory[offset + 3 * PAGE] == 0x7e);
		CHECK(
		    !memcmp(memory + offset + 3 * PAGE, memory + offset + 3 * PAGE + 1, PAGE - 1));
	}
	note("%zu of %zu pages of the sparse memory are present", resident(memory, sparse),
	     sparse / PAGE);
	return PASSED;
}

const struct test_case memory_life_cases[] = {
    {"memory_errors", "EINVAL and ERANGE", test_errors},
    {"memory_enospc", "so many ranges, and no more", test_enospc},
    {"memory_joined", "neighbours of a kind are one range", test_joined},
    {"memory_dontneed", "given back and zero again", test_dontneed},
    {"memory_mapped_again", "unmapped, mapped anew, zero again", test_mapped_again},
    {"memory_moved", "mremap takes the contents, not the range", test_moved},
    {"memory_fork", "a child has the contents, not the ranges", test_fork},
    {"memory_protected", "protected pages and guard pages stay what they are", test_protected},
    {"memory_other", "shared and locked memory is served as ever", test_other_memory},
    {"memory_noreserve", "64 GiB, touched here and there", test_noreserve},
    {"memory_stack", "a stack grows, and its overflow is caught", test_stack},
    {"memory_threads", "four threads fault at once", test_threads},
    {"memory_short", "what was made present in vain gives way", test_short},
    {0},
};
