// SPDX-License-Identifier: MIT
/* Whose the position is, and where the window looks. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "burst.h"
#include "io.h"
#include "reading.h"
#include "window_pool.h"

/* Calls that must have been saved for a look to have been worth it: two, and a page mapped. */
#define PAYING 8
/* Where a look begins is a multiple of no less. */
#define PAGE 4096

struct kadapt_reading kadapt_readings[KADAPT_CHANNELS];
int kadapt_has_windows;
_Atomic uint64_t kadapt_looks;

static int descriptor_of(const struct kadapt_reading *reading)
{
	return (int)(reading - kadapt_readings);
}

static void be_more_patient(struct kadapt_reading *reading, uint32_t at_least)
{
	reading->patience = kadapt_more_patience(reading->patience, at_least);
}

static void judge(struct kadapt_reading *reading)
{
	if (reading->records - reading->begun >= PAYING)
		reading->patience = 0;
	else
		be_more_patient(reading, 2);
}

/* What the descriptor is does not change; who else has its file may, and what is in memory. */
static void refused(struct kadapt_reading *reading, int error)
{
	switch (error) {
	case EBUSY:
	case ENODATA:
		break;
	case ENOLCK:
	case ENOTUNIQ:
	case ENOMEM:
	case EPERM: /* after vfork(): the child's calls are not the parent's */
		be_more_patient(reading, KADAPT_PATIENCE_REFUSED);
		break;
	default:
		be_more_patient(reading, KADAPT_PATIENCE_MAX);
	}
}

static int ask_to_look(const struct kadapt_pool_window *window, struct kadapt_look *look)
{
	int device = atomic_load_explicit(&kadapt_device, memory_order_relaxed);

	look->window = window->number;
	atomic_fetch_add_explicit(&kadapt_looks, 1, memory_order_relaxed);
	return device < 0 ? ENODEV : -kadapt_device_call(device, KADAPT_LOOK, (unsigned long)look);
}

static void shows(struct kadapt_reading *reading, const struct kadapt_pool_window *window,
		  const struct kadapt_look *look)
{
	reading->generation = look->generation;
	reading->shown = &window->header->generation;
	reading->start = kadapt_position_at(look->start);
	reading->until = kadapt_position_at(look->end);
	reading->origin = (uintptr_t)window->data - (uintptr_t)reading->start;
}

static void shows_nothing(struct kadapt_reading *reading)
{
	reading->start = INT64_MIN;
	reading->until = INT64_MIN;
}

/* Handlers copy nothing while the window or the position is another's. */
static void stop_copying(struct kadapt_reading *reading)
{
	__atomic_store_n(&reading->end, INT64_MIN, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static void start_copying(struct kadapt_reading *reading)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&reading->end, reading->until, __ATOMIC_RELAXED);
}

/* 0 or the errno. */
static int look_at(struct kadapt_reading *reading, int64_t position)
{
	const struct kadapt_pool_window *window = kadapt_window_pool_take(reading);
	struct kadapt_look look = {
	    .descriptor = descriptor_of(reading),
	    .offset = kadapt_offset_at(position),
	    .flags = KADAPT_LOOK_UNSHARED,
	};
	int error;

	stop_copying(reading);
	shows_nothing(reading);
	if (!window)
		return ENOMEM;
	atomic_fetch_or(&kadapt_looked, 1ULL << (reading->window - 1));
	error = ask_to_look(window, &look);
	if (!error)
		shows(reading, window, &look);
	return error;
}

static int is_valid(const struct kadapt_reading *reading)
{
	return reading->until > reading->start &&
	       __atomic_load_n(reading->shown, __ATOMIC_ACQUIRE) == reading->generation;
}

static int is_shown(const struct kadapt_reading *reading, int64_t position)
{
	return is_valid(reading) && position >= reading->start && position < reading->until;
}

/*
 * A handler that reads meanwhile, or does something else to the position, makes
 * it the kernel's again.
 */
static int take_position(struct kadapt_reading *reading)
{
	long offset;

	reading->position = KADAPT_POSITION_TAKEN;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	offset = syscall(SYS_lseek, descriptor_of(reading), 0, SEEK_CUR);
	return offset >= 0 && kadapt_move_position(reading, KADAPT_POSITION_TAKEN,
						   kadapt_position_at((uint64_t)offset));
}

/* By whoever has to, inside or not. */
static void give_position(struct kadapt_reading *reading)
{
	int64_t position;

	do {
		position = __atomic_load_n(&reading->position, __ATOMIC_RELAXED);
		if (kadapt_is_ahead(position))
			syscall(SYS_lseek, descriptor_of(reading), kadapt_offset_at(position),
				SEEK_SET);
	} while (!kadapt_move_position(reading, position, KADAPT_POSITION_KERNELS));
}

static void end_burst(struct kadapt_reading *reading)
{
	stop_copying(reading);
	give_position(reading);
	judge(reading);
}

/* The refusal counts on top of what the burst itself was worth. */
static void end_burst_for(struct kadapt_reading *reading, int error)
{
	end_burst(reading);
	refused(reading, error);
}

/* 0 or the errno. */
static int begin_burst(struct kadapt_reading *reading)
{
	int64_t position;

	stop_copying(reading);
	reading->begun = reading->records;
	if (!take_position(reading))
		return ESPIPE;
	position = __atomic_load_n(&reading->position, __ATOMIC_RELAXED);
	return is_shown(reading, position) ? 0 : look_at(reading, position);
}

int kadapt_get_ahead(struct kadapt_reading *reading)
{
	int saved_errno = errno;
	int error = begin_burst(reading);

	reading->streak = 0;
	if (error)
		end_burst_for(reading, error);
	else
		start_copying(reading);
	errno = saved_errno;
	return !error;
}

/* A record that is not whole where the window looks already is not so a second time. */
int kadapt_look_on(struct kadapt_reading *reading)
{
	int64_t position = __atomic_load_n(&reading->position, __ATOMIC_RELAXED);
	int saved_errno = errno;
	int error = ENODATA;

	if (!is_shown(reading, position) || position - reading->start >= PAGE)
		error = look_at(reading, position);
	if (error)
		end_burst_for(reading, error);
	else
		start_copying(reading);
	errno = saved_errno;
	return !error;
}

/* Inside, or in the midst of what this thread does there. */
static void with_channel(int descriptor, void (*function)(struct kadapt_reading *))
{
	struct kadapt_channel *channel = &kadapt_channels[descriptor];
	int saved_errno = errno;
	int is_inside = kadapt_channel_enter(channel);

	function(&kadapt_readings[descriptor]);
	if (is_inside)
		kadapt_channel_leave(channel);
	errno = saved_errno;
}

static void locate(struct kadapt_reading *reading)
{
	if (kadapt_is_ahead(reading->position))
		end_burst(reading);
	else
		give_position(reading);
}

static void look_away(struct kadapt_reading *reading)
{
	locate(reading);
	shows_nothing(reading);
	if (reading->window)
		atomic_fetch_and(&kadapt_looked, ~(1ULL << (reading->window - 1)));
}

static void let_go(const struct kadapt_reading *reading)
{
	struct kadapt_look look = {.window = kadapt_window_pool_of(reading)->number,
				   .flags = KADAPT_LOOK_LET_GO};
	int device = atomic_load_explicit(&kadapt_device, memory_order_relaxed);

	if (device >= 0)
		kadapt_device_call(device, KADAPT_LOOK, (unsigned long)&look);
}

/* Nobody will ask for the position. */
static void forget(struct kadapt_reading *reading)
{
	stop_copying(reading);
	reading->position = KADAPT_POSITION_KERNELS;
	if (is_valid(reading))
		let_go(reading);
	look_away(reading);
	reading->streak = 0;
	reading->patience = 0;
	reading->is_streams = 0;
}

void kadapt_locate(int descriptor)
{
	with_channel(descriptor, locate);
}

void kadapt_look_away(int descriptor)
{
	with_channel(descriptor, look_away);
}

void kadapt_look_away_everywhere(void)
{
	uint64_t bits = atomic_load_explicit(&kadapt_looked, memory_order_relaxed);

	for (; bits; bits &= bits - 1) {
		unsigned int bit = (unsigned int)__builtin_ctzll(bits);

		kadapt_look_away(descriptor_of(kadapt_window_pool_reading(bit)));
	}
}

void kadapt_reading_forget(int descriptor)
{
	const struct kadapt_reading *reading = kadapt_reading_of(descriptor);

	if (reading && (reading->window || reading->patience || reading->is_streams))
		with_channel(descriptor, forget);
}

void kadapt_reading_is_streams(int descriptor)
{
	struct kadapt_reading *reading = kadapt_reading_of(descriptor);

	if (!reading || !kadapt_has_windows)
		return;
	reading->is_streams = 1;
	if (reading->window)
		kadapt_look_away(descriptor);
}

void kadapt_readings_forget(void)
{
	for (int i = 0; i < KADAPT_CHANNELS; i++)
		if (kadapt_readings[i].window || kadapt_readings[i].records)
			kadapt_readings[i] =
			    (struct kadapt_reading){.is_streams = kadapt_readings[i].is_streams};
	kadapt_looks = 0;
	kadapt_window_pool_forget();
}

uint64_t kadapt_readings_records(void)
{
	uint64_t records = 0;

	for (int i = 0; i < KADAPT_CHANNELS; i++)
		records += kadapt_readings[i].records;
	return records;
}
