// SPDX-License-Identifier: GPL-2.0-or-later
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "causes.h"

static char *map(size_t size, int flags)
{
	char *memory =
	    mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	madvise(memory, size, MADV_NOHUGEPAGE);
	return memory;
}

static void touch(char *memory, size_t size)
{
	for (size_t at = 0; at < size; at += PAGE)
		memory[at] = 1;
}

void fresh_memory(void)
{
	char *memory = map(MUCH, 0);

	touch(memory, MUCH);
	munmap(memory, MUCH);
}

void same_memory(void)
{
	char *memory = map(PAGE, 0);

	for (int i = 0; i < MUCH / PAGE; i++)
		touch(memory, PAGE);
	munmap(memory, PAGE);
}

static void *map_and_populate(void *stop)
{
	while (!__atomic_load_n((int *)stop, __ATOMIC_RELAXED))
		munmap(map(8 << 20, MAP_POPULATE), 8 << 20);
	return NULL;
}

static void change_maps(int threads)
{
	pthread_t thread[4];
	int stop = 0;

	for (int i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, map_and_populate, &stop);
	for (int i = 0; i < 12; i++) {
		char *memory = map(64 * PAGE, 0);

		touch(memory, 64 * PAGE);
		munmap(memory, 64 * PAGE);
		sched_yield();
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
}

void maps_contended(void)
{
	change_maps(3);
}

void maps_alone(void)
{
	change_maps(0);
}

static void protect(size_t pages, int times)
{
	char *memory = map(pages * PAGE, MAP_POPULATE);

	for (int i = 0; i < times; i++)
		mprotect(memory + i % pages * PAGE, PAGE, i % 2 ? PROT_READ : PROT_NONE);
	munmap(memory, pages * PAGE);
}

void protect_often(void)
{
	protect(64, 1000);
}

void protect_once(void)
{
	protect(64, 1);
}

void map_often(void)
{
	for (int i = 0; i < 500; i++)
		munmap(map(PAGE, MAP_POPULATE), PAGE);
}

void map_once(void)
{
	munmap(map(500 * PAGE, MAP_POPULATE), 500 * PAGE);
}

static void give_back(int advised)
{
	char *memory = map(64 * PAGE, 0);

	for (int i = 0; i < 300; i++) {
		touch(memory, 4 * PAGE);
		if (advised)
			madvise(memory, 4 * PAGE, MADV_DONTNEED);
	}
	munmap(memory, 64 * PAGE);
}

void advise_away(void)
{
	give_back(1);
}

void keep_pages(void)
{
	give_back(0);
}

static void fork_and_touch(int shared)
{
	char *memory = map(MUCH, MAP_POPULATE);
	pid_t child;

	if (!shared)
		madvise(memory, MUCH, MADV_DONTFORK);
	child = fork();
	if (child == 0)
		_exit(0 * pause());
	touch(memory, MUCH);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	munmap(memory, MUCH);
}

void copies(void)
{
	fork_and_touch(1);
}

void no_copies(void)
{
	fork_and_touch(0);
}

static void move_heap(int times)
{
	for (int i = 0; i < times; i++) {
		char *begin = sbrk(32 * PAGE);

		*begin = 1;
		sbrk(-32 * PAGE);
	}
}

void heap_moves(void)
{
	move_heap(200);
}

void heap_stays(void)
{
	move_heap(1);
}

static void read_map(int flags)
{
	int file = new_file("/tmp/m", MUCH);
	volatile char *memory;

	for (int round = 0; round < 20; round++) {
		memory = mmap(NULL, MUCH, PROT_READ, MAP_SHARED | flags, file, 0);
		for (size_t at = 0; at < MUCH; at += 16 * PAGE)
			(void)memory[at];
		munmap((char *)memory, MUCH);
	}
	close(file);
}

void map_by_pages(void)
{
	read_map(0);
}

void map_populated(void)
{
	read_map(MAP_POPULATE);
}

/* Compaction moves every second page. */
static void compact(int times)
{
	char *memory = map(4 * MUCH, MAP_POPULATE);
	int file = open("/proc/sys/vm/compact_memory", O_WRONLY);

	for (size_t at = 0; at < 4 * MUCH; at += 2 * PAGE)
		madvise(memory + at, PAGE, MADV_DONTNEED);
	for (int i = 0; i < times; i++)
		check(write(file, "1", 1));
	close(file);
	munmap(memory, 4 * MUCH);
}

void moved_pages(void)
{
	compact(2);
}

void unmoved_pages(void)
{
	compact(0);
}
