// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Threads that read files through windows while others of the same program rewrite and truncate the
 * files, unmap the windows or put other memory in their place, let go, close the files, fork. A
 * writer gives each of a file's words its version's number, so a copy that counts tells what it is
 * of: one version, and the newest that was whole when the copy was found to count.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "battle.h"
#include "device.h"
#include "faults.h"
#include "records.h"
#include "window.h"

#define FILES 3
#define WINDOWS 3
#define FILE_BYTES 65536
#define WINDOW_BYTES 16384
#define RECORD_BYTES 4096
#define WORD sizeof(uint64_t)
#define COPIES_PER_LOOK 8

enum { COPIES, REFUSED, VERSIONS };

/* A file, and the version that was whole last. */
struct prey_file {
	int descriptor;
	pthread_mutex_t writing;
	_Atomic uint64_t whole;
};

/* A place in memory where a window is; which one, changes. */
struct prey_window {
	struct test_window window;
	_Atomic uint64_t changes; /* odd while it is being changed */
};

static struct {
	int device;
	struct prey_file files[FILES];
	struct prey_window windows[WINDOWS];
} prey;

static struct path path_of(const struct prey_file *file)
{
	char name[32];

	snprintf(name, sizeof(name), "shown-%d", (int)(file - prey.files));
	return in_directory(name);
}

static struct prey_file *some_file(uint64_t *thrown)
{
	return &prey.files[dice_below(thrown, FILES)];
}

static struct prey_window *some_window(uint64_t *thrown)
{
	return &prey.windows[dice_below(thrown, WINDOWS)];
}

/* One at a time writes, so that the number tells how old a version is. */
static int write_version(struct prey_file *file, int flags)
{
	struct path path = path_of(file);
	uint64_t words[FILE_BYTES / WORD], version = file->whole + 1;
	int writer = open(path.text, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0600);
	ssize_t written;

	for (size_t i = 0; i < FILE_BYTES / WORD; i++)
		words[i] = version;
	if (writer < 0)
		return -1;
	written = pwrite(writer, words, sizeof(words), 0);
	if (close(writer) || written != FILE_BYTES)
		return -1;
	atomic_store(&file->whole, version);
	return 0;
}

static void rewrite(struct prey_file *file, uint64_t *thrown)
{
	pthread_mutex_lock(&file->writing);
	if (write_version(file, dice_below(thrown, 2) ? O_TRUNC : 0) == 0)
		battle_count(VERSIONS);
	pthread_mutex_unlock(&file->writing);
}

/* Other numbers than a version's are in it only between a writer's open and its close. */
static void truncate_one(struct prey_file *file, uint64_t *thrown)
{
	struct path path = path_of(file);

	if (truncate(path.text, (off_t)(dice_below(thrown, FILE_BYTES / WORD) * WORD)) == 0)
		rewrite(file, thrown);
}

static bool is_of_version(const uint64_t *words, size_t count, uint64_t version)
{
	for (size_t i = 1; i < count; i++)
		if (words[i] != words[0])
			return false;
	return words[0] >= version;
}

/*
 * In the order that counts: the copy, the version that is whole by now, and then whether the copy
 * is still of what is shown.
 */
static void copy_some(struct prey_window *place, const struct test_window *window,
		      const struct prey_file *file, uint64_t changes, uint64_t *thrown)
{
	uint64_t record[RECORD_BYTES / WORD], shown = window->look.end - window->look.start,
					      version;
	size_t length = WORD * (1 + dice_below(thrown, RECORD_BYTES / WORD));
	off_t offset;

	if (shown < length)
		return;
	offset =
	    (off_t)(window->look.start + WORD * dice_below(thrown, (shown - length) / WORD + 1));
	window_copy(window, record, length, offset);
	version = atomic_load(&file->whole);
	atomic_thread_fence(memory_order_acquire);
	if (!window_is_shown(window) || atomic_load(&place->changes) != changes) {
		battle_count(REFUSED);
		return;
	}
	battle_count(COPIES);
	if (!is_of_version(record, length / WORD, version))
		battle_lost("a copy that counts is of no version, or of an old one");
}

static void choose_pattern(struct kadapt_look *look, uint64_t *thrown)
{
	look->pattern = (uint32_t)dice_below(thrown, KADAPT_PATTERN_STRIDED + 1);
	look->flags = (uint32_t)dice_below(thrown, 4) * KADAPT_LOOK_UNSHARED;
	look->flags &= KADAPT_LOOK_UNSHARED | KADAPT_LOOK_DROP_BEHIND;
	look->record_bytes = WORD << dice_below(thrown, 8);
	look->stride_bytes = 1 + dice_below(thrown, FILE_BYTES);
	look->readahead_bytes = dice_below(thrown, FILE_BYTES);
	look->delay_ns = dice_below(thrown, 2) ? 0 : NS_PER_MS;
}

static void look_and_copy(uint64_t *thrown)
{
	struct prey_window *place = some_window(thrown);
	struct prey_file *file = some_file(thrown);
	uint64_t changes = atomic_load(&place->changes);
	struct test_window window = place->window;

	if (changes % 2)
		return;
	choose_pattern(&window.look, thrown);
	if (window_look(&window, file->descriptor, (off_t)dice_below(thrown, FILE_BYTES)))
		return;
	for (int i = 0; i < COPIES_PER_LOOK; i++)
		copy_some(place, &window, file, changes, thrown);
}

/* Where the other one was; what is there meanwhile can be read, too. */
static void map_in_place(struct prey_window *place)
{
	void *memory = (void *)place->window.header;
	struct kadapt_window made = {.bytes = WINDOW_BYTES};

	if (mmap(memory, place->window.shape.map_bytes, PROT_READ,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED ||
	    ioctl(prey.device, KADAPT_WINDOW, &made))
		return;
	mmap(memory, made.map_bytes, PROT_READ, MAP_SHARED | MAP_FIXED, prey.device,
	     (off_t)made.map_offset);
	place->window.shape = made;
	place->window.look.window = made.number;
}

/* While nobody takes away what is made for the place, which would be left without memory. */
static pthread_mutex_t replacing = PTHREAD_MUTEX_INITIALIZER;

static void replace(struct prey_window *place)
{
	pthread_mutex_lock(&replacing);
	atomic_fetch_add(&place->changes, 1);
	map_in_place(place);
	atomic_fetch_add(&place->changes, 1);
	pthread_mutex_unlock(&replacing);
}

/* Another open file in the descriptor's place. */
static void reopen(struct prey_file *file)
{
	struct path path = path_of(file);
	int other = open(path.text, O_RDONLY | O_CLOEXEC);

	if (other < 0)
		return;
	dup3(other, file->descriptor, O_CLOEXEC);
	close(other);
}

/* One more window, for as long as a look takes; its number is known beforehand. */
static void make_another(uint64_t *thrown)
{
	struct test_window window;
	struct prey_file *file = some_file(thrown);

	if (window_make(&window, prey.device, WINDOW_BYTES))
		return;
	window_look(&window, file->descriptor, 0);
	munmap((void *)window.header, window.shape.map_bytes);
}

/* Map, unmap and by that end what another thread may be making just now. */
static void end_numbered(uint64_t number)
{
	size_t bytes = PAGE + WINDOW_BYTES;
	void *memory =
	    mmap(NULL, bytes, PROT_READ, MAP_SHARED, prey.device, (off_t)(number << MAP_SHIFT));

	if (memory != MAP_FAILED)
		munmap(memory, bytes);
}

static void end_anothers(void)
{
	pthread_mutex_lock(&replacing);
	for (uint64_t number = 0; number < WINDOWS + 2; number++)
		end_numbered(number);
	pthread_mutex_unlock(&replacing);
}

static void use_anothers(void)
{
	struct test_window window = prey.windows[0].window;

	window_look(&window, prey.files[0].descriptor, 0);
	window_let_go(&window);
}

static void act(uint64_t *thrown)
{
	struct test_window window = some_window(thrown)->window;

	switch (dice_below(thrown, 32)) {
	case 0:
		battle_fork(use_anothers);
		break;
	case 1 ... 4:
		replace(some_window(thrown));
		break;
	case 5 ... 8:
		reopen(some_file(thrown));
		break;
	case 9 ... 12:
		make_another(thrown);
		break;
	case 13 ... 16:
		end_anothers();
		break;
	case 17 ... 20:
		window_let_go(&window);
		break;
	case 21 ... 24:
		truncate_one(some_file(thrown), thrown);
		break;
	default:
		rewrite(some_file(thrown), thrown);
	}
}

/* With pauses, else nobody would get a lease. */
static void act_at_times(uint64_t *thrown)
{
	act(thrown);
	sleep_for((int64_t)dice_below(thrown, NS_PER_MS));
}

static int open_prey_file(struct prey_file *file)
{
	struct path path = path_of(file);

	pthread_mutex_init(&file->writing, NULL);
	if (write_version(file, O_TRUNC))
		return -1;
	file->descriptor = open(path.text, O_RDONLY | O_CLOEXEC);
	return file->descriptor < 0 ? -1 : 0;
}

static int open_prey_window(struct prey_window *place)
{
	return window_make(&place->window, prey.device, WINDOW_BYTES);
}

static int begin(uint64_t seed)
{
	(void)seed;
	prey.device = open_device();
	if (prey.device < 0)
		return -1;
	for (int i = 0; i < FILES; i++)
		if (open_prey_file(&prey.files[i]))
			return -1;
	for (int i = 0; i < WINDOWS; i++)
		if (open_prey_window(&prey.windows[i]))
			return -1;
	return prey.device;
}

static enum outcome rewrite_while_shown(void)
{
	const struct battle battle = {
	    .begin = begin,
	    .threads = {look_and_copy, look_and_copy, act_at_times, act_at_times},
	    .totals = {[COPIES] = "copies counted",
		       [REFUSED] = "copies did not",
		       [VERSIONS] = "versions were written"},
	};

	return battle_fight(&battle);
}

const struct test_case window_fault_cases[] = {
    {"shown", "files are rewritten and windows replaced while they are read", rewrite_while_shown},
    {0},
};
