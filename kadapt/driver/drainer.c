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
#include <linux/fs.h>
#include <linux/ktime.h>

#include "compat.h"
#include "path.h"

/* Looks of the timer at a ring in which nothing moves. */
#define IDLE_LOOKS 8
/* Longest pause between two tries to write to a stream without room. */
#define LONGEST_RETRY_NS (10 * NSEC_PER_MSEC)
/* How long the other end of a stream has after the process's end. */
#define PATIENCE_NS (5 * NSEC_PER_SEC)

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

/* Tries to write to a stream without room become rarer. */
static void look_again(struct kadapt_path *path)
{
	if (!path->waiting) {
		path->retry_ns = path->delay_ns;
	} else {
		path->retry_ns = min(2 * path->retry_ns, LONGEST_RETRY_NS);
		path->retry_ns = max(path->retry_ns, path->delay_ns);
	}
	start_timer(path, path->retry_ns);
}

/*
 * Nobody is left who could ask for what is in the ring: so the other end of a
 * stream has so long to take it.
 */
void kadapt_drainer_limit(struct kadapt_path *path)
{
	if (!path->give_up_ns)
		path->give_up_ns = ktime_get_ns() + PATIENCE_NS;
}

static bool is_given_up(const struct kadapt_path *path)
{
	return path->give_up_ns && ktime_get_ns() >= path->give_up_ns;
}

static void work_locked(struct kadapt_path *path)
{
	bool unbind = test_and_clear_bit(KADAPT_REQUEST_UNBIND,
					 &path->region.requests);

	if (!path->sink)
		return;
	if (is_abandoned(path))
		kadapt_drainer_limit(path);
	if (unbind || path->give_up_ns)
		kadapt_path_unbind(path);
	else if (!kadapt_path_drain(path))
		kadapt_path_accept(path);
	if (path->sink && is_given_up(path))
		kadapt_path_drop(path);
	if (path->sink)
		look_again(path);
}

void kadapt_drainer_work(struct kadapt_path *path)
{
	bool is_over;

	kadapt_path_lock(path);
	work_locked(path);
	is_over = path->ended && !path->sink;
	kadapt_path_unlock(path);
	if (is_over)
		kadapt_region_forget(&path->region);
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
