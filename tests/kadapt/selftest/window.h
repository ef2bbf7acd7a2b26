/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A window as a program uses one, straight from the header's comments. */
#ifndef WINDOW_H
#define WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "kadapt.h"

struct test_window {
	int device;
	struct kadapt_window shape;
	const volatile struct kadapt_window_header *header;
	const char *data;
	/* What the next look asks for, and what the last one gave. */
	struct kadapt_look look;
	int looks;
};

/* 0 or -1 with errno. */
int window_make(struct test_window *window, int device, uint32_t bytes);
/* Of a device of its own. */
int window_open(struct test_window *window, uint32_t bytes);
int window_map(struct test_window *window, int protection);
int window_look(struct test_window *window, int descriptor, off_t offset);
int window_let_go(struct test_window *window);

/* What was looked at last is still shown. */
bool window_is_shown(const struct test_window *window);
/* Copy from the window; false if it does not show that, or does no longer. */
bool window_copy(const struct test_window *window, void *record, size_t length, off_t offset);
/* As pread(2): copies, else looks and copies, else calls that. */
ssize_t window_read(struct test_window *window, int descriptor, void *record, size_t length,
		    off_t offset);

/* A file whose every byte tells where it is, and whether that is so. */
#define NUMBERED_MAX (1024 * 1024 + 777)
int make_numbered(const char *path, size_t bytes);
bool is_numbered(const char *record, size_t length, off_t offset);
/* One of the scratch folder, open for reading. */
const char *numbered_path(void);
int open_numbered(size_t bytes);

#endif
