// SPDX-License-Identifier: MIT
/* Interposed: calls that ask about a descriptor, change it or end it. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "interpose.h"

/* Of programs that were linked with an older C library. */
int __fxstat(int, int, struct stat *);
int __fxstat64(int, int, struct stat64 *);

#define SETTLE kadapt_settle_one(d)
#define RELEASE kadapt_release_one(d)

INTERPOSE_OFTEN(SETTLE, off_t, lseek, (int d, off_t offset, int origin), (d, offset, origin))
INTERPOSE_OFTEN(SETTLE, off64_t, lseek64, (int d, off64_t offset, int origin), (d, offset, origin))
INTERPOSE_OFTEN(SETTLE, int, fstat, (int d, struct stat *answer), (d, answer))
INTERPOSE_OFTEN(SETTLE, int, fstat64, (int d, struct stat64 *answer), (d, answer))
INTERPOSE(SETTLE, int, __fxstat, (int version, int d, struct stat *answer), (version, d, answer))
INTERPOSE(SETTLE, int, __fxstat64, (int version, int d, struct stat64 *answer),
	  (version, d, answer))
INTERPOSE(SETTLE, int, fstatvfs, (int d, struct statvfs *answer), (d, answer))
INTERPOSE(SETTLE, int, fstatvfs64, (int d, struct statvfs64 *answer), (d, answer))
INTERPOSE(SETTLE, int, ftruncate, (int d, off_t size), (d, size))
INTERPOSE(SETTLE, int, ftruncate64, (int d, off64_t size), (d, size))
INTERPOSE(SETTLE, int, fallocate, (int d, int mode, off_t offset, off_t size),
	  (d, mode, offset, size))
INTERPOSE(SETTLE, int, fallocate64, (int d, int mode, off64_t offset, off64_t size),
	  (d, mode, offset, size))
INTERPOSE(SETTLE, int, posix_fallocate, (int d, off_t offset, off_t size), (d, offset, size))
INTERPOSE(SETTLE, int, posix_fallocate64, (int d, off64_t offset, off64_t size), (d, offset, size))
INTERPOSE(SETTLE, int, posix_fadvise, (int d, off_t offset, off_t size, int advice),
	  (d, offset, size, advice))
INTERPOSE(SETTLE, int, posix_fadvise64, (int d, off64_t offset, off64_t size, int advice),
	  (d, offset, size, advice))
INTERPOSE(SETTLE, int, sync_file_range, (int d, off64_t offset, off64_t size, unsigned int flags),
	  (d, offset, size, flags))
INTERPOSE(SETTLE, int, fchmod, (int d, mode_t mode), (d, mode))
INTERPOSE(SETTLE, int, fchown, (int d, uid_t user, gid_t group), (d, user, group))
INTERPOSE(SETTLE, int, futimens, (int d, const struct timespec times[2]), (d, times))
INTERPOSE(SETTLE, int, futimes, (int d, const struct timeval times[2]), (d, times))
INTERPOSE(SETTLE, int, fsetxattr,
	  (int d, const char *name, const void *value, size_t size, int flags),
	  (d, name, value, size, flags))
INTERPOSE(SETTLE, int, flock, (int d, int operation), (d, operation))
INTERPOSE(SETTLE, int, lockf, (int d, int command, off_t size), (d, command, size))
INTERPOSE(SETTLE, int, lockf64, (int d, int command, off64_t size), (d, command, size))
INTERPOSE(SETTLE, int, getsockopt, (int d, int level, int option, void *value, socklen_t *size),
	  (d, level, option, value, size))
INTERPOSE(SETTLE, int, setsockopt,
	  (int d, int level, int option, const void *value, socklen_t size),
	  (d, level, option, value, size))
INTERPOSE(RELEASE, int, shutdown, (int d, int how), (d, how))

/* An error that was kept is told by the calls that promise to tell. */
static int with_error(struct kadapt_channel *channel, int result)
{
	int error = channel ? -kadapt_take_error(channel) : 0;

	if (!error)
		return result;
	errno = error;
	return -1;
}

#define INTERPOSE_SYNC(name)                                                                       \
	int name(int d)                                                                            \
	{                                                                                          \
		KADAPT_WITH_NEXT(name)                                                             \
		SETTLE;                                                                            \
		return with_error(kadapt_channel_of(d), function(d));                              \
	}

INTERPOSE_SYNC(fsync)
INTERPOSE_SYNC(fdatasync)
INTERPOSE(kadapt_settle_all(), int, syncfs, (int d), (d))
INTERPOSE_VOID(kadapt_settle_all(), sync, (void), ())

int close(int d)
{
	KADAPT_WITH_NEXT(close)
	struct kadapt_channel *channel = kadapt_channel_of(d);
	int error = 0;
	int result;

	if (channel) {
		kadapt_reading_forget(d);
		kadapt_release_one(d);
		error = -kadapt_take_error(channel);
		kadapt_channel_forget(channel);
	}
	result = function(d);
	if (!error)
		return result;
	errno = error;
	return -1;
}

/* Not the device's own, whose rings are empty then. */
static void forget_from(unsigned int first, unsigned int last)
{
	kadapt_release_all();
	for (unsigned int d = first; d <= last && d < KADAPT_CHANNELS; d++)
		kadapt_channel_forget(&kadapt_channels[d]);
}

static void before_close_range(unsigned int first, unsigned int last, int flags)
{
	if (!(flags & CLOSE_RANGE_CLOEXEC))
		forget_from(first, last);
}

INTERPOSE(before_close_range(first, last, flags), int, close_range,
	  (unsigned int first, unsigned int last, int flags), (first, last, flags))
INTERPOSE_VOID(forget_from(first < 0 ? 0 : (unsigned int)first, KADAPT_CHANNELS), closefrom,
	       (int first), (first))

/* An open file with two descriptors has no ring, and the new number is new. */
static void before_duplicate(int d, int copy)
{
	struct kadapt_channel *replaced = kadapt_channel_of(copy);

	RELEASE;
	if (copy == d || !replaced)
		return;
	kadapt_reading_forget(copy);
	kadapt_release_one(copy);
	kadapt_channel_forget(replaced);
}

int dup(int d)
{
	KADAPT_WITH_NEXT(dup)
	RELEASE;
	return kadapt_note_copy(d, function(d));
}

int dup2(int d, int copy)
{
	KADAPT_WITH_NEXT(dup2)
	before_duplicate(d, copy);
	return kadapt_note_copy(d, function(d, copy));
}

int dup3(int d, int copy, int flags)
{
	KADAPT_WITH_NEXT(dup3)
	before_duplicate(d, copy);
	return kadapt_note_copy(d, function(d, copy, flags));
}

static int is_copy(int command)
{
	return command == F_DUPFD || command == F_DUPFD_CLOEXEC;
}

static void before_fcntl(int d, int command)
{
	switch (command) {
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
	case F_SETFL:
	case F_SETLEASE:
		RELEASE;
		break;
	case F_GETFD:
	case F_SETFD:
	case F_GETFL:
		break;
	default:
		SETTLE;
	}
}

/* The third argument is an int or a pointer; as the C library itself does, take the wider. */
#define INTERPOSE_FCNTL(name)                                                                      \
	int name(int d, int command, ...)                                                          \
	{                                                                                          \
		KADAPT_WITH_NEXT(name)                                                             \
		va_list arguments;                                                                 \
		void *argument;                                                                    \
		int result;                                                                        \
                                                                                                   \
		va_start(arguments, command);                                                      \
		argument = va_arg(arguments, void *);                                              \
		va_end(arguments);                                                                 \
		before_fcntl(d, command);                                                          \
		result = function(d, command, argument);                                           \
		return is_copy(command) ? kadapt_note_copy(d, result) : result;                    \
	}

INTERPOSE_FCNTL(fcntl)
INTERPOSE_FCNTL(fcntl64)

int ioctl(int d, unsigned long request, ...)
{
	KADAPT_WITH_NEXT(ioctl)
	va_list arguments;
	void *argument;

	va_start(arguments, request);
	argument = va_arg(arguments, void *);
	va_end(arguments);
	SETTLE;
	return function(d, request, argument);
}

/* A file that is mapped shows its content without a call. */
static void before_mmap(int d, int flags)
{
	if (!(flags & MAP_ANONYMOUS))
		RELEASE;
}

INTERPOSE(before_mmap(d, flags), void *, mmap,
	  (void *address, size_t size, int protection, int flags, int d, off_t offset),
	  (address, size, protection, flags, d, offset))
INTERPOSE(before_mmap(d, flags), void *, mmap64,
	  (void *address, size_t size, int protection, int flags, int d, off64_t offset),
	  (address, size, protection, flags, d, offset))

const void *const kadapt_interposed_descriptors = fsync;
