// SPDX-License-Identifier: GPL-2.0-only
/*
 * Draining without a call: a timer runs while the ring is bound, and wakes the
 * worker, which may sleep.
 *
 * The timer does not wake the worker each time it expires. Whatever is in the
 * ring was appended after the ring was last found empty. While that is less
 * than the delay ago, the timer only waits for the rest of the delay. When no
 * record comes for some delays, the worker unbinds the ring.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/ktime.h>

#include "base/compat.h"
#include "phase/client.h"
#include "phase/quantum.h"
#include "ring/ring.h"

/* The timer unbinds a ring that it has found unchanged this many times. */
#define IDLE_LOOKS 8
/* Its pause between looks at a worker doubles this many times. */
#define MOST_DOUBLINGS 6U

void kadapt_ring_queue(struct kadapt_ring *ring)
{
	kadapt_ring_get(ring);
	if (!queue_work(ring->client->worker, &ring->work))
		kadapt_ring_put(ring);
}

void kadapt_ring_request(struct kadapt_ring *ring, unsigned int request)
{
	set_bit(request, &ring->requests);
	kadapt_ring_queue(ring);
}

void kadapt_ring_finish(struct kadapt_ring *ring)
{
	kadapt_ring_queue(ring);
	flush_work(&ring->work);
}

void kadapt_ring_end(struct kadapt_ring *ring)
{
	bool is_left;

	kadapt_ring_lock(ring);
	ring->ended = true;
	kadapt_ring_unbind(ring);
	is_left = ring->file;
	kadapt_ring_unlock(ring);
	/* A signal may have interrupted this task's writes. */
	if (is_left && !(current->flags & PF_KTHREAD))
		kadapt_ring_finish(ring);
}

static void start_timer(struct kadapt_ring *ring, u64 delay_ns)
{
	hrtimer_start(&ring->timer, ns_to_ktime(delay_ns), HRTIMER_MODE_REL);
}

static bool is_idle(struct kadapt_ring *ring, u64 tail)
{
	struct kadapt_idleness *idleness = &ring->idleness;

	if (tail != READ_ONCE(ring->head) || tail != idleness->tail) {
		idleness->tail = tail;
		idleness->looks = 0;
		return false;
	}
	return ++idleness->looks >= IDLE_LOOKS;
}

static void look_again(struct kadapt_ring *ring, unsigned int doublings)
{
	u64 pause = min_t(u64, ring->delay_ns, TICK_NSEC);

	start_timer(ring, pause << min(doublings, MOST_DOUBLINGS));
}

static void wake_worker(struct kadapt_ring *ring)
{
	/* The worker may set it back before this returns. */
	WRITE_ONCE(ring->looks, 1);
	kadapt_ring_queue(ring);
	look_again(ring, 0);
}

/*
 * The worker has not finished. It must not wait for a quantum, so end all quanta.
 * Look less and less often: it may wait for the file.
 */
static void hasten_worker(struct kadapt_ring *ring, unsigned int looks)
{
	kadapt_quanta_end();
	/* If the worker has finished now, the timer goes on as usual. */
	cmpxchg(&ring->looks, looks, looks + 1);
	look_again(ring, looks);
}

/* Only the binding's reference is left: every descriptor has been closed. */
static bool is_abandoned(const struct kadapt_ring *ring)
{
	return file_count(ring->file) == 1;
}

static enum hrtimer_restart expired(struct hrtimer *timer)
{
	struct kadapt_ring *ring =
		container_of(timer, struct kadapt_ring, timer);
	u64 now = ktime_to_ns(hrtimer_cb_get_time(timer));
	u64 tail = READ_ONCE(ring->memory.header->tail);
	u64 due = READ_ONCE(ring->emptied_ns) + ring->delay_ns;
	unsigned int looks = READ_ONCE(ring->looks);

	if (looks) {
		hasten_worker(ring, looks);
		return HRTIMER_NORESTART;
	}
	if (is_idle(ring, tail) || is_abandoned(ring)) {
		set_bit(KADAPT_REQUEST_UNBIND, &ring->requests);
		wake_worker(ring);
		return HRTIMER_NORESTART;
	}
	if (tail != READ_ONCE(ring->head) && due <= now) {
		wake_worker(ring);
		return HRTIMER_NORESTART;
	}
	if (due <= now)
		due = now + ring->delay_ns;
	/*
	 * Not by HRTIMER_RESTART: the worker may start the timer at the same
	 * time, and the expiry of a queued timer must not change.
	 */
	hrtimer_start(timer, ns_to_ktime(due), HRTIMER_MODE_ABS);
	return HRTIMER_NORESTART;
}

void kadapt_ring_timer_start(struct kadapt_ring *ring)
{
	ring->idleness = (struct kadapt_idleness){};
	WRITE_ONCE(ring->looks, 0);
	start_timer(ring, ring->delay_ns);
}

static void drain_or_unbind(struct kadapt_ring *ring)
{
	bool unbind = test_and_clear_bit(KADAPT_REQUEST_UNBIND,
					 &ring->requests);

	if (!ring->file)
		return;
	if (unbind || ring->ended || is_abandoned(ring))
		kadapt_ring_unbind(ring);
	else if (!kadapt_ring_drain(ring))
		kadapt_ring_accept(ring);
	if (ring->file) {
		WRITE_ONCE(ring->looks, 0);
		start_timer(ring, ring->delay_ns);
	}
}

static void work(struct work_struct *queued)
{
	struct kadapt_ring *ring =
		container_of(queued, struct kadapt_ring, work);
	bool is_over;

	if (test_and_clear_bit(KADAPT_REQUEST_END, &ring->requests))
		kadapt_ring_end(ring);
	kadapt_ring_lock(ring);
	drain_or_unbind(ring);
	is_over = ring->ended && !ring->file;
	kadapt_ring_unlock(ring);
	if (is_over)
		kadapt_ring_remove(ring);
	kadapt_ring_put(ring);
}

void kadapt_ring_worker_prepare(struct kadapt_ring *ring)
{
	hrtimer_setup(&ring->timer, expired, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	INIT_WORK(&ring->work, work);
}
