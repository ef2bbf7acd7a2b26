// SPDX-License-Identifier: MIT
/* In the place of read(2). */
#define _GNU_SOURCE
#include <pthread.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "io.h"
#include "libkadapt.h"
#include "next.h"
#include "reading.h"

/* Declared by <unistd.h> only for programs that are fortified. */
ssize_t __read_chk(int descriptor, void *record, size_t size, size_t room);

/* No number that read(2) returns. */
#define NOT_READ (-2)

/* So many plain reads in a row at least: files that are read by two or three never pay. */
#define STREAK_MIN 3

/* Standard input may be read as a stream by whom nobody sees. */
#define FIRST_DESCRIPTOR 3

/* By the kernel's position. A handler is in the midst of what may make it the library's. */
static ssize_t read_plainly(int descriptor, void *record, size_t size)
{
	struct kadapt_reading *reading = kadapt_reading_of(descriptor);
	uint32_t streak = reading ? reading->streak : 0;
	ssize_t result;

	kadapt_before_read(descriptor);
	result = kadapt_next_read(descriptor, record, size);
	if (!reading)
		return result;
	kadapt_channels[descriptor].plain++;
	if (result == (ssize_t)size && size - 1 < KADAPT_READ_MAX)
		reading->streak = streak + 1;
	return result;
}

/* By the library's position, which a handler may move before it is moved here. */
static ssize_t read_at_position(int descriptor, void *record, size_t size)
{
	struct kadapt_reading *reading = &kadapt_readings[descriptor];
	int64_t position;
	long result;

	do {
		position = __atomic_load_n(&reading->position, __ATOMIC_RELAXED);
		if (!kadapt_is_ahead(position))
			return NOT_READ;
		result = syscall(SYS_pread64, descriptor, record, size, kadapt_offset_at(position));
	} while (result > 0 && !kadapt_move_position(reading, position, position + result));
	return result;
}

static ssize_t read_inside(int descriptor, void *record, size_t size)
{
	struct kadapt_reading *reading = &kadapt_readings[descriptor];
	int is_record = size - 1 < KADAPT_READ_MAX;

	if (!kadapt_is_ahead(reading->position) && !kadapt_get_ahead(reading))
		return NOT_READ;
	if (is_record && kadapt_copy_shown(reading, record, size, 0))
		return (ssize_t)size;
	if (is_record && kadapt_look_on(reading) && kadapt_copy_shown(reading, record, size, 0))
		return (ssize_t)size;
	return read_at_position(descriptor, record, size);
}

static int may_get_ahead(int descriptor, size_t size)
{
	const struct kadapt_reading *reading = &kadapt_readings[descriptor];

	return kadapt_has_windows && descriptor >= FIRST_DESCRIPTOR && !reading->is_streams &&
	       size - 1 < KADAPT_READ_MAX && reading->streak >= reading->patience + STREAK_MIN;
}

static __attribute__((noinline)) ssize_t read_slowly(int descriptor, void *record, size_t size)
{
	const struct kadapt_reading *reading = kadapt_reading_of(descriptor);
	ssize_t result;

	if (!reading || (!kadapt_is_ahead(reading->position) && !may_get_ahead(descriptor, size)))
		return read_plainly(descriptor, record, size);
	if (!__libc_single_threaded)
		pthread_testcancel();
	if (kadapt_channel_enter(&kadapt_channels[descriptor])) {
		result = read_inside(descriptor, record, size);
		kadapt_channel_leave(&kadapt_channels[descriptor]);
	} else {
		result = read_at_position(descriptor, record, size);
	}
	return result == NOT_READ ? read_plainly(descriptor, record, size) : result;
}

ssize_t kadapt_read(int descriptor, void *record, size_t size)
{
	if (kadapt_is_short(descriptor, size) &&
	    kadapt_copy_shown(&kadapt_readings[descriptor], record, size, 1))
		return (ssize_t)size;
	return read_slowly(descriptor, record, size);
}

/* What does not fit is left to the C library, which ends the program. */
ssize_t kadapt___read_chk(int descriptor, void *record, size_t size, size_t room)
{
	if (size > room)
		return __read_chk(descriptor, record, size, room);
	return kadapt_read(descriptor, record, size);
}
