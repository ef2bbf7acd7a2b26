// SPDX-License-Identifier: MIT
/*
 * Interposed: calls that look at files by name, which may be those that rings
 * are bound to. To open one, or to cut it, breaks its lease, so the kernel sees
 * to that.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <utime.h>

#include "interpose.h"

/* Of programs that were linked with an older C library. */
int __xstat(int, const char *, struct stat *);
int __xstat64(int, const char *, struct stat64 *);
int __lxstat(int, const char *, struct stat *);
int __lxstat64(int, const char *, struct stat64 *);
int __fxstatat(int, int, const char *, struct stat *, int);
int __fxstatat64(int, int, const char *, struct stat64 *, int);

#define ALL kadapt_settle_all()

INTERPOSE(ALL, int, stat, (const char *path, struct stat *answer), (path, answer))
INTERPOSE(ALL, int, stat64, (const char *path, struct stat64 *answer), (path, answer))
INTERPOSE(ALL, int, lstat, (const char *path, struct stat *answer), (path, answer))
INTERPOSE(ALL, int, lstat64, (const char *path, struct stat64 *answer), (path, answer))
INTERPOSE(ALL, int, fstatat, (int folder, const char *path, struct stat *answer, int flags),
	  (folder, path, answer, flags))
INTERPOSE(ALL, int, fstatat64, (int folder, const char *path, struct stat64 *answer, int flags),
	  (folder, path, answer, flags))
INTERPOSE(ALL, int, statx,
	  (int folder, const char *path, int flags, unsigned int mask, struct statx *answer),
	  (folder, path, flags, mask, answer))
INTERPOSE(ALL, int, __xstat, (int version, const char *path, struct stat *answer),
	  (version, path, answer))
INTERPOSE(ALL, int, __xstat64, (int version, const char *path, struct stat64 *answer),
	  (version, path, answer))
INTERPOSE(ALL, int, __lxstat, (int version, const char *path, struct stat *answer),
	  (version, path, answer))
INTERPOSE(ALL, int, __lxstat64, (int version, const char *path, struct stat64 *answer),
	  (version, path, answer))
INTERPOSE(ALL, int, __fxstatat,
	  (int version, int folder, const char *path, struct stat *answer, int flags),
	  (version, folder, path, answer, flags))
INTERPOSE(ALL, int, __fxstatat64,
	  (int version, int folder, const char *path, struct stat64 *answer, int flags),
	  (version, folder, path, answer, flags))
INTERPOSE(ALL, int, utime, (const char *path, const struct utimbuf *times), (path, times))
INTERPOSE(ALL, int, utimes, (const char *path, const struct timeval times[2]), (path, times))
INTERPOSE(ALL, int, utimensat,
	  (int folder, const char *path, const struct timespec times[2], int flags),
	  (folder, path, times, flags))

const void *const kadapt_interposed_paths = stat;
