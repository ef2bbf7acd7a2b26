// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Threads write, read, protect, move, give back and unmap memory, and fork. Meanwhile all threads
 * bind ranges of all kinds over all of the memory, and then the process ends. Each piece of the
 * memory belongs to one thread, which knows the contents of its pages and compares.
 *
 * A second area is larger than the machine's memory. It is bound so that a touched page makes its
 * neighbours present. So pages that were made present in vain must be given back all the time.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <kadapt.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ring/append.h"
#include "battle.h"
#include "device.h"
#include "faults.h"
#include "records.h"

#define PIECE_PAGES 64UL
#define PIECE_BYTES (PIECE_PAGES * PAGE)
#define MOST_PIECES 256UL
/* The pieces are at most this part of the machine's memory. */
#define SHARE 4
#define SPARSE_STEP (512UL << 10)
#define MOST_STEPS 4096UL
#define MOST_TO_FILL (1UL << 30)

enum total { BOUND, COMPARED, MOVED, FORKED };

/* A page is zero up to some byte, and has a value from that byte on. */
struct held {
	uint16_t from;
	unsigned char value;
};

static struct {
	int device;
	char *pieces, *sparse;
	size_t piece_count, steps;
	struct held held[MOST_PIECES][PIECE_PAGES];
	unsigned char at_step[MOST_STEPS];
} field;

/* The piece that a thread's child checks. */
static _Thread_local size_t looked_at;

static size_t below(uint64_t *thrown, size_t limit)
{
	return (size_t)dice_below(thrown, limit);
}

static char *page_of(size_t piece, size_t page)
{
	return field.pieces + piece * PIECE_BYTES + page * PAGE;
}

static void *map(void *address, size_t bytes, int flags)
{
	void *mapped = mmap(address, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	if (mapped == MAP_FAILED)
		battle_lost("memory could not be mapped");
	return mapped;
}

static void write_piece(uint64_t *thrown, size_t piece)
{
	size_t first = below(thrown, PIECE_PAGES);

	for (size_t page = first; page < PIECE_PAGES; page++) {
		struct held held = {
		    .from = (uint16_t)below(thrown, PAGE),
		    .value = (unsigned char)(1 + below(thrown, 255)),
		};

		memset(page_of(piece, page), 0, held.from);
		memset(page_of(piece, page) + held.from, held.value, PAGE - held.from);
		field.held[piece][page] = held;
	}
}

static bool is_all(const char *bytes, unsigned char value, size_t count)
{
	return !count || ((unsigned char)*bytes == value && !memcmp(bytes, bytes + 1, count - 1));
}

static bool piece_is_as_noted(size_t piece)
{
	for (size_t page = 0; page < PIECE_PAGES; page++) {
		const struct held *held = &field.held[piece][page];
		const char *bytes = page_of(piece, page);

		if (!is_all(bytes, 0, held->from) ||
		    !is_all(bytes + held->from, held->value, PAGE - held->from))
			return false;
	}
	return true;
}

static void compare(uint64_t *thrown, size_t piece)
{
	(void)thrown;
	if (!piece_is_as_noted(piece))
		battle_lost("a page holds what nobody wrote");
	battle_count(COMPARED);
}

static void note_empty(size_t piece)
{
	memset(field.held[piece], 0, sizeof(field.held[piece]));
}

static void give_back(uint64_t *thrown, size_t piece)
{
	(void)thrown;
	if (madvise(page_of(piece, 0), PIECE_BYTES, MADV_DONTNEED))
		battle_lost("MADV_DONTNEED failed");
	note_empty(piece);
}

/* No thread maps anything here meanwhile, because all threads map at given addresses. */
static void map_anew(uint64_t *thrown, size_t piece)
{
	(void)thrown;
	if (munmap(page_of(piece, 0), PIECE_BYTES))
		battle_lost("munmap failed");
	map(page_of(piece, 0), PIECE_BYTES, MAP_FIXED);
	note_empty(piece);
}

static void protect(uint64_t *thrown, size_t piece)
{
	if (mprotect(page_of(piece, 0), PIECE_BYTES, PROT_READ))
		battle_lost("mprotect failed");
	compare(thrown, piece);
	if (mprotect(page_of(piece, 0), PIECE_BYTES, PROT_READ | PROT_WRITE))
		battle_lost("mprotect back failed");
}

/* Moves pages to another piece of the same thread. */
static void move(uint64_t *thrown, size_t piece)
{
	size_t to = (piece + BATTLE_THREADS) % field.piece_count;

	(void)thrown;
	if (mremap(page_of(piece, 0), PIECE_BYTES, PIECE_BYTES, MREMAP_MAYMOVE | MREMAP_FIXED,
		   page_of(to, 0)) == MAP_FAILED)
		battle_lost("mremap failed");
	memcpy(field.held[to], field.held[piece], sizeof(field.held[to]));
	map(page_of(piece, 0), PIECE_BYTES, MAP_FIXED);
	note_empty(piece);
	battle_count(MOVED);
}

static void look_as_a_child(void)
{
	if (!piece_is_as_noted(looked_at))
		battle_lost("a child's page holds what nobody wrote");
	memset(page_of(looked_at, 0), 0xa5, PIECE_BYTES);
}

static void fork_and_look(uint64_t *thrown, size_t piece)
{
	looked_at = piece;
	battle_fork(look_as_a_child);
	compare(thrown, piece);
	battle_count(FORKED);
}

/* A range of any pieces, also of other threads' pieces. */
static void bind(uint64_t *thrown, size_t unused)
{
	static const uint32_t kinds[] = {KADAPT_MEMORY_AHEAD, KADAPT_MEMORY_DENSE,
					 KADAPT_MEMORY_DENSE | KADAPT_MEMORY_NOW,
					 KADAPT_MEMORY_PLAIN};
	size_t pages = field.piece_count * PIECE_PAGES, first = below(thrown, pages);
	struct kadapt_memory memory = {
	    .address = (uintptr_t)page_of(0, first),
	    .bytes = (1 + below(thrown, pages - first)) * PAGE,
	    .flags = kinds[below(thrown, 4)],
	    .chunk_bytes = (uint64_t)PAGE << below(thrown, 10),
	};

	(void)unused;
	/* At the end, one thread closes the device. */
	if (ioctl(field.device, KADAPT_MEMORY, &memory) == 0)
		battle_count(BOUND);
	else if (errno != ENOSPC && errno != EBADF)
		battle_lost("a range was refused");
}

/* Touches some pages; each step belongs to one thread. */
static void touch_sparsely(uint64_t *thrown, size_t thread)
{
	for (int i = 0; i < 8; i++) {
		size_t step = below(thrown, field.steps / BATTLE_THREADS) * BATTLE_THREADS + thread;
		unsigned char *page = (unsigned char *)field.sparse + step * SPARSE_STEP + 3 * PAGE;

		if (page[PAGE - 1] != field.at_step[step] || page[0] || page[PAGE])
			battle_lost("a page of the sparse memory holds what nobody wrote");
		field.at_step[step] = (unsigned char)(1 + below(thrown, 255));
		page[PAGE - 1] = field.at_step[step];
	}
}

static void act(uint64_t *thrown, size_t thread)
{
	static void (*const acts[])(uint64_t * thrown, size_t piece) = {
	    write_piece, write_piece, write_piece, compare, compare, give_back,
	    map_anew,	 protect,     move,	   bind,    bind,
	};
	size_t piece = below(thrown, field.piece_count / BATTLE_THREADS) * BATTLE_THREADS + thread;

	if (below(thrown, 4) == 0)
		touch_sparsely(thrown, thread);
	else if (below(thrown, 6) == 0)
		fork_and_look(thrown, piece);
	else
		acts[below(thrown, sizeof(acts) / sizeof(*acts))](thrown, piece);
}

static void act_first(uint64_t *thrown)
{
	act(thrown, 0);
}

static void act_second(uint64_t *thrown)
{
	act(thrown, 1);
}

static void act_third(uint64_t *thrown)
{
	act(thrown, 2);
}

static void act_fourth(uint64_t *thrown)
{
	act(thrown, 3);
}

static size_t least(size_t one, size_t other)
{
	return one < other ? one : other;
}

static int begin(uint64_t seed)
{
	struct sysinfo machine;
	struct kadapt_memory dense = {
	    .flags = KADAPT_MEMORY_DENSE,
	    .chunk_bytes = SPARSE_STEP,
	};

	(void)seed;
	if (sysinfo(&machine))
		return -1;
	field.device = open_device();
	field.piece_count = least(machine.totalram / SHARE / PIECE_BYTES, MOST_PIECES);
	field.piece_count -= field.piece_count % BATTLE_THREADS;
	field.steps = least(2 * machine.totalram / SPARSE_STEP, MOST_STEPS);
	field.pieces = map(NULL, field.piece_count * PIECE_BYTES, 0);
	/* The page behind that of the last step is read, too. */
	dense.bytes = (field.steps + 1) * SPARSE_STEP;
	field.sparse = map(NULL, dense.bytes, MAP_NORESERVE);
	dense.address = (uintptr_t)field.sparse;
	return ioctl(field.device, KADAPT_MEMORY, &dense) ? -1 : field.device;
}

static enum outcome fight_for_memory(void)
{
	static const struct battle battle = {
	    .begin = begin,
	    .threads = {act_first, act_second, act_third, act_fourth},
	    .totals = {"ranges bound", "pieces compared", "moved", "forks"},
	};

	if (!(device_features() & KADAPT_FEATURE_MEMORY))
		return skip("this kernel has no ranges of memory");
	return battle_fight(&battle);
}

/* Half of the machine's memory in bytes, or 0 and the reason if memory can't be filled here. */
static size_t half_of_memory(const char **reason)
{
	struct sysinfo machine;

	*reason = "this kernel has no ranges of memory";
	if (!(device_features() & KADAPT_FEATURE_MEMORY))
		return 0;
	*reason = "this machine has too much memory to fill it";
	if (sysinfo(&machine) || machine.totalram > MOST_TO_FILL)
		return 0;
	return machine.totalram / 2 / PAGE * PAGE;
}

/* Half of the machine's memory is present and never written. A child shares it. */
static enum outcome give_way_to_a_parent(void)
{
	struct kadapt_memory now = {.flags = KADAPT_MEMORY_DENSE | KADAPT_MEMORY_NOW};
	const char *reason;
	pid_t child;

	now.bytes = half_of_memory(&reason);
	if (!now.bytes)
		return skip(reason);
	now.address = (uintptr_t)map(NULL, now.bytes, MAP_NORESERVE);
	CHECK(ioctl(open_device(), KADAPT_MEMORY, &now) == 0);
	CHECK(now.done > now.bytes / 2);
	child = fork();
	if (child == 0)
		pause();
	CHECK(child > 0);
	memset(map(NULL, now.bytes, MAP_NORESERVE), 1, now.bytes);
	CHECK(is_all((const char *)(uintptr_t)now.address, 0, now.bytes));
	CHECK(waitpid(child, NULL, WNOHANG) == 0);
	CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
	return PASSED;
}

/* Makes empty pages present, says so, and waits for its end, which yields to everyone. */
static void hold_empty_pages(size_t bytes, int said)
{
	struct kadapt_memory now = {
	    .address = (uintptr_t)map(NULL, bytes, MAP_NORESERVE),
	    .bytes = bytes,
	    .flags = KADAPT_MEMORY_DENSE | KADAPT_MEMORY_NOW,
	};

	if (setpriority(PRIO_PROCESS, 0, 19) || ioctl(open_device(), KADAPT_MEMORY, &now) ||
	    write(said, "", 1) != 1)
		_exit(1);
	pause();
}

/* Ends the process at any time of a tick, and lets it run until the tick. */
static void end_in_part(uint64_t *thrown, pid_t process)
{
	int64_t until = now() + (int64_t)dice_below(thrown, (uint64_t)tick());

	while (now() < until)
		;
	kill(process, SIGKILL);
	sched_yield();
}

/* A process that ends holds half of the memory. Another one needs more than what is free. */
static bool gives_way_while_ending(uint64_t *thrown, size_t bytes, const int said[2])
{
	size_t first = bytes / 2;
	pid_t child = fork();
	char byte, *own;

	if (child == 0)
		hold_empty_pages(bytes, said[1]);
	own = map(NULL, bytes, MAP_NORESERVE);
	memset(own, 1, first);
	if (child < 0 || read(said[0], &byte, 1) != 1)
		return false;
	end_in_part(thrown, child);
	memset(own + first, 1, bytes - first);
	return munmap(own, bytes) == 0 && waitpid(child, NULL, 0) == child;
}

static enum outcome give_way_while_ending(void)
{
	uint64_t thrown = setting.seed;
	const char *reason;
	size_t bytes = half_of_memory(&reason);
	int said[2];

	if (!bytes)
		return skip(reason);
	CHECK(pipe(said) == 0);
	for (uint64_t i = 0; i < setting.rounds; i++)
		CHECK(gives_way_while_ending(&thrown, bytes, said));
	return PASSED;
}

const struct test_case memory_fault_cases[] = {
    {"memory_ending", "empty pages of a process that ends give way to other processes",
     give_way_while_ending},
    {"memory_shared", "untouched memory that a child shares gives way to its parent's",
     give_way_to_a_parent},
    {"memory_battle", "threads that do all there is with their memory find in it what they wrote",
     fight_for_memory},
    {0},
};
