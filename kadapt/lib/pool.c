// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "append.h"
#include "burst.h"
#include "pool.h"

#define PAGE 4096
/* What the kernel takes for a set of signals. */
#define SIGNALS_BYTES 8

struct pool_ring {
	struct kadapt_ring_header *header;
	size_t map_bytes;
	uint32_t number;
	uint64_t thread;		/* whose it is: its `kadapt_thread` */
	pid_t task;			/* the same to the kernel */
	struct kadapt_channel *channel; /* who had it last */
};

/*
 * What a child must not take for its own: whole pages, which the kernel wipes in any
 * child that does not share the memory (MADV_WIPEONFORK).
 */
struct kadapt_channel kadapt_channels[KADAPT_CHANNELS] __attribute__((aligned(PAGE)));

static struct pool {
	struct pool_ring rings[KADAPT_POOL_MAX];
	uint32_t count;
	atomic_flag busy;
	struct kadapt_appended retired; /* went into rings that are no more */
} __attribute__((aligned(PAGE))) pool;

/* Its marks are 1 to 1,024: no ring's, as threads' numbers begin above, nor 0, an entered ring's.
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

int kadapt_state_begin(void)
{
	return sysconf(_SC_PAGESIZE) == PAGE &&
	       wipe_in_children(kadapt_channels, sizeof(kadapt_channels)) &&
	       wipe_in_children(&pool, sizeof(pool));
}

static struct kadapt_ring_header *map_ring(int device, const struct kadapt_ring *ring)
{
	long address = syscall(SYS_mmap, NULL, ring->map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
			       device, ring->map_offset);

	return address == -1 ? NULL : (struct kadapt_ring_header *)address;
}

static void own(struct pool_ring *ring)
{
	if (kadapt_thread == NO_THREAD)
		kadapt_thread = ++threads * (2 * KADAPT_CHANNELS);
	ring->thread = kadapt_thread;
	ring->task = (pid_t)syscall(SYS_gettid);
}

/* A ring of the calling thread's, in this place; 1 or 0. */
static int make_ring(struct pool_ring *made)
{
	struct kadapt_ring ring = {.bytes = KADAPT_RING_DEFAULT};
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
	made->channel = NULL;
	own(made);
	return 1;
}

static int make_another(struct pool_ring **found)
{
	if (pool.count >= KADAPT_POOL_MAX || pool.count >= kadapt_device_query()->rings)
		return 0;
	if (!make_ring(&pool.rings[pool.count]))
		return 0;
	*found = &pool.rings[pool.count++];
	return 1;
}

static int is_own(const struct pool_ring *ring)
{
	return ring->thread == kadapt_thread;
}

static int is_orphan(const struct pool_ring *ring)
{
	return syscall(SYS_tgkill, syscall(SYS_getpid), ring->task, 0) && errno == ESRCH;
}

/* Is an append under way, or was it left by a jump? An orphan's nobody goes on with. */
static int is_entered(const struct pool_ring *ring)
{
	return ring->channel && !ring->header->writer;
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
 * Perhaps an append will go on, after the handler that the thread is in. What is
 * mapped in the ring's place takes what it copies, and has a tail that is no ring's.
 */
static int retire(struct pool_ring *ring)
{
	const struct kadapt_appended appended = appended_to(ring->header);

	if (syscall(SYS_mmap, ring->header, ring->map_bytes, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == -1)
		return 0;
	add(&pool.retired, appended);
	if (ring->channel)
		ring->channel->header = NULL;
	return make_ring(ring);
}

static int may_take(const struct pool_ring *ring)
{
	return !kadapt_is_open(ring->header) && !is_entered(ring) && is_own(ring);
}

static int may_inherit(const struct pool_ring *ring)
{
	return !kadapt_is_open(ring->header) && is_orphan(ring);
}

static struct pool_ring *find_ring_where(int (*is_wanted)(const struct pool_ring *ring))
{
	for (uint32_t i = 0; i < pool.count; i++)
		if (pool.rings[i].header && is_wanted(&pool.rings[i]))
			return &pool.rings[i];
	return NULL;
}

static struct pool_ring *own_ring_of(const struct kadapt_channel *channel)
{
	for (uint32_t i = 0; i < pool.count; i++)
		if (pool.rings[i].channel == channel && is_own(&pool.rings[i]))
			return &pool.rings[i];
	return NULL;
}

static struct pool_ring *find_ring(const struct kadapt_channel *channel)
{
	struct pool_ring *found = own_ring_of(channel);

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

/* The channel that had the ring has none: in it the ring's mark means another. */
static void give(struct pool_ring *ring, struct kadapt_channel *channel)
{
	struct kadapt_channel *before = ring->channel;

	if (before && before != channel && before->header == ring->header)
		before->header = NULL;
	ring->channel = channel;
	ring->header->writer = kadapt_writer(kadapt_descriptor_of(channel));
}

static int bind(struct kadapt_channel *channel)
{
	struct pool_ring *ring = find_ring(channel);
	struct kadapt_binding binding = {.descriptor = kadapt_descriptor_of(channel)};

	if (!ring)
		return 0;
	give(ring, channel);
	binding.ring = ring->number;
	__atomic_fetch_add(&kadapt_binds, 1, __ATOMIC_RELAXED);
	if (kadapt_device_call(kadapt_device_current(), KADAPT_BIND, (unsigned long)&binding))
		return 0;
	channel->header = ring->header;
	return 1;
}

/*
 * With signals blocked, so that no jump and no cancellation leaves the pool busy.
 * Whoever finds it so, another thread is in it, goes without.
 */
int kadapt_pool_bind(struct kadapt_channel *channel)
{
	const uint64_t all = ~UINT64_C(0);
	int saved_errno = errno;
	uint64_t before;
	int bound = 0;

	if (syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, &before, SIGNALS_BYTES))
		return 0;
	if (!atomic_flag_test_and_set(&pool.busy)) {
		bound = bind(channel);
		atomic_flag_clear(&pool.busy);
	}
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, SIGNALS_BYTES);
	errno = saved_errno;
	return bound;
}

static const struct pool_ring *ring_with(const struct kadapt_ring_header *header)
{
	for (uint32_t i = 0; i < pool.count; i++)
		if (pool.rings[i].header == header)
			return &pool.rings[i];
	return NULL;
}

int kadapt_pool_drain(const struct kadapt_ring_header *header)
{
	const struct pool_ring *ring = ring_with(header);
	int device = kadapt_device_current();

	if (!ring || device < 0)
		return -ENOLINK;
	__atomic_fetch_add(&kadapt_drains, 1, __ATOMIC_RELAXED);
	return kadapt_device_call(device, KADAPT_DRAIN, ring->number);
}

static int is_any_open(void)
{
	for (uint32_t i = 0; i < pool.count; i++)
		if (pool.rings[i].header && kadapt_is_open(pool.rings[i].header))
			return 1;
	return 0;
}

void kadapt_pool_let_go(void)
{
	if (is_any_open())
		kadapt_device_call(kadapt_device_current(), KADAPT_UNBIND, KADAPT_DRAIN_ALL);
}

struct kadapt_appended kadapt_pool_appended(void)
{
	struct kadapt_appended sum = pool.retired;

	for (uint32_t i = 0; i < pool.count; i++)
		if (pool.rings[i].header)
			add(&sum, appended_to(pool.rings[i].header));
	return sum;
}
