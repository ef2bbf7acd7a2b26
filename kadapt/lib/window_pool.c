// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "window_pool.h"

static struct kadapt_pool_window windows[KADAPT_WINDOWS];
static uint32_t window_count;
static uint32_t window_limit = KADAPT_WINDOWS;
static atomic_flag busy = ATOMIC_FLAG_INIT;

_Atomic uint64_t kadapt_looked;

static const struct kadapt_window_header *map_window(int device, const struct kadapt_window *window)
{
	long address = syscall(SYS_mmap, NULL, window->map_bytes, PROT_READ, MAP_SHARED, device,
			       window->map_offset);

	return address == -1 ? NULL : (const struct kadapt_window_header *)address;
}

/* The next of `windows`; 0 if there will be no more. */
static int make_window(void)
{
	struct kadapt_window window = {.bytes = KADAPT_WINDOW_DEFAULT};
	struct kadapt_pool_window *made = &windows[window_count];
	int device = kadapt_device_current();
	int error;

	if (device < 0)
		return 0;
	error = -kadapt_device_call(device, KADAPT_WINDOW, (unsigned long)&window);
	if (error)
		kadapt_device_lost(device, error);
	made->header = error ? NULL : map_window(device, &window);
	if (!made->header)
		return 0;
	made->data = (const char *)made->header + window.data_offset;
	made->number = window.number;
	return 1;
}

static struct kadapt_channel *channel_of(const struct kadapt_reading *reading)
{
	return &kadapt_channels[reading - kadapt_readings];
}

/* Take a window from a reading that nobody is in and that does not use it now. */
static int took_from_other(struct kadapt_pool_window *window)
{
	struct kadapt_reading *holder = window->reading;
	int is_idle;

	if (kadapt_is_ahead(holder->position) || !kadapt_channel_try(channel_of(holder)))
		return 0;
	is_idle = !kadapt_is_ahead(holder->position);
	if (is_idle) {
		holder->until = holder->start;
		holder->window = 0;
	}
	kadapt_channel_leave(channel_of(holder));
	return is_idle;
}

static struct kadapt_pool_window *find_window(void)
{
	if (window_count < window_limit) {
		if (make_window())
			return &windows[window_count++];
		window_limit = window_count;
	}
	for (uint32_t i = 0; i < window_count; i++)
		if (took_from_other(&windows[i]))
			return &windows[i];
	return NULL;
}

/* Whoever finds the pool busy, a signal handler perhaps, goes without. */
const struct kadapt_pool_window *kadapt_window_pool_take(struct kadapt_reading *reading)
{
	struct kadapt_pool_window *found;

	if (reading->window)
		return kadapt_window_pool_of(reading);
	if (atomic_flag_test_and_set(&busy))
		return NULL;
	found = find_window();
	if (found) {
		found->reading = reading;
		reading->window = (uint32_t)(found - windows) + 1;
	}
	atomic_flag_clear(&busy);
	return found;
}

const struct kadapt_pool_window *kadapt_window_pool_of(const struct kadapt_reading *reading)
{
	return &windows[reading->window - 1];
}

struct kadapt_reading *kadapt_window_pool_reading(unsigned int bit)
{
	return windows[bit].reading;
}

void kadapt_window_pool_forget(void)
{
	window_count = 0;
	window_limit = KADAPT_WINDOWS;
	atomic_store(&kadapt_looked, 0);
	atomic_flag_clear(&busy);
}
