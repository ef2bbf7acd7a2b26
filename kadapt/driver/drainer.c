// SPDX-License-Identifier: GPL-2.0-only
/*
 * What empties a ring when nobody asks: a timer while it is bound, and a worker
 * that does what a timer can't.
 *
 * The timer does not drain each time. What is in the ring came after it was last
 * found empty, so while that is less than the delay ago there is nothing to do
 * but wait for the rest. When nothing comes for some delays, the worker lets the
 * descriptor go.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/ktime.h>

#include "compat.h"
#include "path.h"

/* Looks of the timer at a ring in which nothing moves. */
#define IDLE_LOOKS 8

static bool is_idle(struct kadapt_path *path, u64 tail)
{
	struct kadapt_idleness *idleness = &path->idleness;

	if (tail != READ_ONCE(path->head) || tail != idleness->tail) {
		idleness->tail = tail;
		idleness->looks = 0;
		return false;
	}
	return ++idleness->looks >= IDLE_LOOKS;
}

/* Only ours is left: the program closed its descriptor without our knowing. */
static bool is_abandoned(const struct kadapt_path *path)
{
	return file_count(path->file) == 1;
}

/* The worker starts the timer again, unless it lets go. */
static enum hrtimer_restart look(struct hrtimer *timer)
{
	struct kadapt_path *path =
		container_of(timer, struct kadapt_path, timer);
	u64 now = ktime_to_ns(hrtimer_cb_get_time(timer));
	u64 tail = READ_ONCE(path->memory.header->tail);
	u64 due = READ_ONCE(path->emptied_ns) + path->delay_ns;

	if (is_idle(path, tail) || is_abandoned(path)) {
		kadapt_region_request(&path->region,
				      KADAPT_REQUEST_UNBIND);
		return HRTIMER_NORESTART;
	}
	if (tail != READ_ONCE(path->head) && due <= now) {
		kadapt_region_queue(&path->region);
		return HRTIMER_NORESTART;
	}
	if (due <= now)
		due = now + path->delay_ns;
	/*
	 * Not by HRTIMER_RESTART: the worker may start the timer just now, and
	 * what is queued must not be given another time.
	 */
	hrtimer_start(timer, ns_to_ktime(due), HRTIMER_MODE_ABS);
	return HRTIMER_NORESTART;
}

static void start_timer(struct kadapt_path *path, u64 delay_ns)
{
	hrtimer_start(&path->timer, ns_to_ktime(delay_ns), HRTIMER_MODE_REL);
}

static void work_locked(struct kadapt_path *path)
{
	bool unbind = test_and_clear_bit(KADAPT_REQUEST_UNBIND,
					 &path->region.requests);

	if (!path->file)
		return;
	if (unbind || path->ended || is_abandoned(path))
		kadapt_path_unbind(path);
	else if (!kadapt_path_drain(path))
		kadapt_path_accept(path);
	if (path->file)
		start_timer(path, path->delay_ns);
}

void kadapt_path_work(struct kadapt_region *region)
{
	struct kadapt_path *path =
		container_of(region, struct kadapt_path, region);
	bool is_over;

	kadapt_path_lock(path);
	work_locked(path);
	is_over = path->ended && !path->file;
	kadapt_path_unlock(path);
	if (is_over)
		kadapt_region_forget(region);
}

void kadapt_drainer_prepare(struct kadapt_path *path)
{
	hrtimer_setup(&path->timer, look, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
}

void kadapt_drainer_start(struct kadapt_path *path)
{
	path->idleness = (struct kadapt_idleness){};
	start_timer(path, path->delay_ns);
}

void kadapt_drainer_stop(struct kadapt_path *path)
{
	hrtimer_cancel(&path->timer);
}
