// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ring/append.h"
#include "ring/burst.h"
#include "ring/rings.h"

#define PAGE 4096
/* The size of the kernel's signal sets. */
#define SIGNALS_BYTES 8

struct owned_ring {
	struct kadapt_ring_header *header;
	size_t map_bytes;
	uint32_t number;
	uint64_t thread;	  /* its owner's `kadapt_thread` */
	pid_t task;		  /* its owner's thread ID */
	struct kadapt_slot *slot; /* it was last bound for this one */
};

/*
 * A child must not use the parent's rings. So these records fill whole pages, which
 * the kernel wipes in every child with memory of its own (MADV_WIPEONFORK).
 */
struct kadapt_slot kadapt_slots[KADAPT_SLOTS] __attribute__((aligned(PAGE)));

static struct owned_rings {
	struct owned_ring rings[KADAPT_OWN_RINGS];
	uint32_t count;
	atomic_flag busy;
	struct kadapt_appended retired; /* records of rings that were replaced */
} __attribute__((aligned(PAGE))) owned;

/*
 * A thread without rings. Its marks are 1 to 1,024, which no ring carries: threads'
 * numbers begin above, and 0 marks a ring that is entered.
 */
#define NO_THREAD 1

__thread uint64_t kadapt_thread KADAPT_AT_HAND = NO_THREAD;
static uint64_t threads;

uint64_t kadapt_binds;
uint64_t kadapt_drains;

static int wipe_in_children(void *begin, size_t size)
{
	return !syscall(SYS_madvise, begin, size, MADV_WIPEONFORK);
}

int kadapt_rings_begin(void)
{
	return sysconf(_SC_PAGESIZE) == PAGE &&
	       wipe_in_children(kadapt_slots, sizeof(kadapt_slots)) &&
	       wipe_in_children(&owned, sizeof(owned));
}

static struct kadapt_ring_header *map_ring(int device, const struct kadapt_new_ring *ring)
{
	long address = syscall(SYS_mmap, NULL, ring->map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
			       device, ring->map_offset);

	return address == -1 ? NULL : (struct kadapt_ring_header *)address;
}

static void own(struct owned_ring *ring)
{
	if (kadapt_thread == NO_THREAD)
		kadapt_thread = ++threads * (2 * KADAPT_SLOTS);
	ring->thread = kadapt_thread;
	ring->task = (pid_t)syscall(SYS_gettid);
}

/* Create a ring of the calling thread in this record. Returns 1 or 0. */
static int make_ring(struct owned_ring *made)
{
	struct kadapt_new_ring ring = {.bytes = KADAPT_RING_DEFAULT};
	int device = kadapt_device_current();
	int error;

	if (device < 0)
		return 0;
	error = -kadapt_device_call(device, KADAPT_RING, (unsigned long)&ring);
	if (error)
		kadapt_device_lost(device, error);
	made->header =
	    error || ring.data_offset != KADAPT_RING_DATA ? NULL : map_ring(device, &ring);
	if (!made->header)
		return 0;
	made->map_bytes = ring.map_bytes;
	made->number = ring.number;
	made->slot = NULL;
	own(made);
	return 1;
}

static int make_another(struct owned_ring **found)
{
	if (owned.count >= KADAPT_OWN_RINGS || owned.count >= kadapt_device_query()->rings)
		return 0;
	if (!make_ring(&owned.rings[owned.count]))
		return 0;
	*found = &owned.rings[owned.count++];
	return 1;
}

static int is_own(const struct owned_ring *ring)
{
	return ring->thread == kadapt_thread;
}

static int is_orphan(const struct owned_ring *ring)
{
	return syscall(SYS_tgkill, syscall(SYS_getpid), ring->task, 0) && errno == ESRCH;
}

/* Whether an append is in progress, or a handler's jump has left one. */
static int is_entered(const struct owned_ring *ring)
{
	return ring->slot && !ring->header->writer;
}

static struct kadapt_appended appended_to(const struct kadapt_ring_header *header)
{
	uint64_t pending = (kadapt_tail(header) & ~KADAPT_RING_CLOSED) - header->head;

	return (struct kadapt_appended){.records = header->appends,
					.bytes = header->taken + pending};
}

static void add(struct kadapt_appended *sum, struct kadapt_appended more)
{
	sum->records += more.records;
	sum->bytes += more.bytes;
}

/*
 * Replace an entered ring. If the thread is in a signal handler, the interrupted
 * append may continue afterwards. The memory that is mapped in the ring's place takes
 * the copy, and its tail of 0 makes the append fail.
 */
static int retire(struct owned_ring *ring)
{
	const struct kadapt_appended appended = appended_to(ring->header);

	if (syscall(SYS_mmap, ring->header, ring->map_bytes, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == -1)
		return 0;
	add(&owned.retired, appended);
	if (ring->slot)
		ring->slot->header = NULL;
	return make_ring(ring);
}

static int may_take(const struct owned_ring *ring)
{
	return !kadapt_is_open(ring->header) && !is_entered(ring) && is_own(ring);
}

static int may_inherit(const struct owned_ring *ring)
{
	return !kadapt_is_open(ring->header) && is_orphan(ring);
}

static struct owned_ring *find_ring_where(int (*is_wanted)(const struct owned_ring *ring))
{
	for (uint32_t i = 0; i < owned.count; i++)
		if (owned.rings[i].header && is_wanted(&owned.rings[i]))
			return &owned.rings[i];
	return NULL;
}

static struct owned_ring *own_ring_of(const struct kadapt_slot *slot)
{
	for (uint32_t i = 0; i < owned.count; i++)
		if (owned.rings[i].slot == slot && is_own(&owned.rings[i]))
			return &owned.rings[i];
	return NULL;
}

static struct owned_ring *find_ring(const struct kadapt_slot *slot)
{
	struct owned_ring *found = own_ring_of(slot);

	if (found && !found->header)
		return make_ring(found) ? found : NULL;
	if (found && is_entered(found))
		return retire(found) ? found : NULL;
	if (found)
		return found;
	if (make_another(&found))
		return found;
	found = find_ring_where(may_take);
	if (found)
		return found;
	found = find_ring_where(may_inherit);
	if (found)
		own(found);
	return found;
}

/* The slot that had the ring loses it: the ring's mark names the new slot. */
static void give(struct owned_ring *ring, struct kadapt_slot *slot)
{
	struct kadapt_slot *before = ring->slot;

	if (before && before != slot && before->header == ring->header)
		before->header = NULL;
	ring->slot = slot;
	ring->header->writer = kadapt_writer(kadapt_descriptor_of(slot));
}

static int bind(struct kadapt_slot *slot)
{
	struct owned_ring *ring = find_ring(slot);
	struct kadapt_binding binding = {.descriptor = kadapt_descriptor_of(slot)};

	if (!ring)
		return 0;
	give(ring, slot);
	binding.ring = ring->number;
	__atomic_fetch_add(&kadapt_binds, 1, __ATOMIC_RELAXED);
	if (kadapt_device_call(kadapt_device_current(), KADAPT_BIND, (unsigned long)&binding))
		return 0;
	slot->header = ring->header;
	return 1;
}

/*
 * Signals are blocked, so that neither a jump nor a cancellation can leave the records
 * busy. If another thread is using the records, this one goes without a ring.
 */
int kadapt_rings_bind(struct kadapt_slot *slot)
{
	const uint64_t all = ~UINT64_C(0);
	int saved_errno = errno;
	uint64_t before;
	int bound = 0;

	if (syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, &before, SIGNALS_BYTES))
		return 0;
	if (!atomic_flag_test_and_set(&owned.busy)) {
		bound = bind(slot);
		atomic_flag_clear(&owned.busy);
	}
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, SIGNALS_BYTES);
	errno = saved_errno;
	return bound;
}

static const struct owned_ring *ring_with(const struct kadapt_ring_header *header)
{
	for (uint32_t i = 0; i < owned.count; i++)
		if (owned.rings[i].header == header)
			return &owned.rings[i];
	return NULL;
}

int kadapt_rings_drain(const struct kadapt_ring_header *header)
{
	const struct owned_ring *ring = ring_with(header);
	int device = kadapt_device_current();

	if (!ring || device < 0)
		return -ENOLINK;
	__atomic_fetch_add(&kadapt_drains, 1, __ATOMIC_RELAXED);
	return kadapt_device_call(device, KADAPT_DRAIN, ring->number);
}

static int is_any_open(void)
{
	for (uint32_t i = 0; i < owned.count; i++)
		if (owned.rings[i].header && kadapt_is_open(owned.rings[i].header))
			return 1;
	return 0;
}

void kadapt_rings_unbind(void)
{
	if (is_any_open())
		kadapt_device_call(kadapt_device_current(), KADAPT_UNBIND, KADAPT_DRAIN_ALL);
}

struct kadapt_appended kadapt_rings_appended(void)
{
	struct kadapt_appended sum = owned.retired;

	for (uint32_t i = 0; i < owned.count; i++)
		if (owned.rings[i].header)
			add(&sum, appended_to(owned.rings[i].header));
	return sum;
}
