// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device.h"
#include "ring.h"
#include "window.h"

int window_map(struct test_window *window, int protection)
{
	void *memory = mmap(NULL, window->shape.map_bytes, protection, MAP_SHARED, window->device,
			    (off_t)window->shape.map_offset);

	if (memory == MAP_FAILED)
		return -1;
	window->header = memory;
	window->data = (char *)memory + window->shape.data_offset;
	return 0;
}

int window_make(struct test_window *window, int device, uint32_t bytes)
{
	*window = (struct test_window){.device = device, .shape.bytes = bytes};
	if (device < 0 || ioctl(device, KADAPT_WINDOW, &window->shape))
		return -1;
	window->look.window = window->shape.number;
	/* On the slowest machine, too. */
	window->look.delay_ns = KADAPT_DELAY_MAX_NS;
	return window_map(window, PROT_READ);
}

int window_open(struct test_window *window, uint32_t bytes)
{
	return window_make(window, open_device(), bytes);
}

int window_look(struct test_window *window, int descriptor, off_t offset)
{
	window->looks++;
	window->look.descriptor = descriptor;
	window->look.offset = (uint64_t)offset;
	if (!ioctl(window->device, KADAPT_LOOK, &window->look))
		return 0;
	window->look.end = 0;
	return -1;
}

int window_let_go(struct test_window *window)
{
	struct kadapt_look look = {.window = window->shape.number, .flags = KADAPT_LOOK_LET_GO};

	return ioctl(window->device, KADAPT_LOOK, &look);
}

bool window_is_shown(const struct test_window *window)
{
	return window->header->generation == window->look.generation;
}

bool window_copy(const struct test_window *window, void *record, size_t length, off_t offset)
{
	uint64_t start = (uint64_t)offset;

	if (start < window->look.start || start + length > window->look.end)
		return false;
	memcpy(record, window->data + (start - window->look.start), length);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return window_is_shown(window);
}

ssize_t window_read(struct test_window *window, int descriptor, void *record, size_t length,
		    off_t offset)
{
	if (window_copy(window, record, length, offset))
		return (ssize_t)length;
	if (!window_look(window, descriptor, offset) && window_copy(window, record, length, offset))
		return (ssize_t)length;
	return pread(descriptor, record, length, offset);
}

/* No two pages are the same. */
static char byte_at(off_t offset)
{
	return (char)(offset * 31 + (offset >> 12) * 7 + (offset >> 20));
}

bool is_numbered(const char *record, size_t length, off_t offset)
{
	for (size_t i = 0; i < length; i++)
		if (record[i] != byte_at(offset + (off_t)i))
			return false;
	return true;
}

int make_numbered(const char *path, size_t bytes)
{
	static char content[NUMBERED_MAX];
	int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	for (size_t i = 0; i < bytes; i++)
		content[i] = byte_at((off_t)i);
	if (file < 0 || write(file, content, bytes) != (ssize_t)bytes || fsync(file))
		return -1;
	return close(file);
}

const char *numbered_path(void)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/window.in", scratch_folder());
	return path;
}

int open_numbered(size_t bytes)
{
	if (make_numbered(numbered_path(), bytes))
		return -1;
	return open(numbered_path(), O_RDONLY | O_CLOEXEC);
}
