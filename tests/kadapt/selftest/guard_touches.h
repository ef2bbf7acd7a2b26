/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ways in which a process touches a file.
 *
 * Each is a function by_NAME(file) that makes plain system calls on the file. It returns
 * the calls' answer, or -ENOSYS if the kernel lacks a call.
 */
#ifndef GUARD_TOUCHES_H
#define GUARD_TOUCHES_H

/* The file's text is BEFORE and then PENDING; touches that write append TEXT. */
#define BEFORE "before "
#define PENDING "pending"
#define TEXT "after"

typedef long (*touch_function)(int file);

/* clang-format off */
#define TOUCHES(EACH) \
	EACH(write) EACH(writev) EACH(pwrite) EACH(pwritev2) EACH(read) EACH(pread) \
	EACH(seek) EACH(seek_end) EACH(truncate) EACH(allocate) EACH(punch) \
	EACH(reserving) EACH(sync) EACH(times) EACH(mode) EACH(attribute) EACH(mapping) \
	EACH(sendfile_to) EACH(sendfile_from) EACH(splice) EACH(copy_range) \
	EACH(append_flag) EACH(flock) EACH(record_lock) EACH(advice) EACH(thread) \
	EACH(clone) EACH(copy) EACH(dup2) EACH(aio) EACH(open) EACH(open_truncating) \
	EACH(child_opening) EACH(limited_child) EACH(own_limit) EACH(name_truncate) EACH(name_mode) EACH(name_times) \
	EACH(name_attribute) EACH(status) EACH(name_status) EACH(io_uring) \
	EACH(io_uring_at) EACH(io_uring_sync) EACH(io_uring_splice)
/* clang-format on */

#define DECLARE_TOUCH(name) long by_##name(int file);
TOUCHES(DECLARE_TOUCH)
#undef DECLARE_TOUCH

#endif
