/* SPDX-License-Identifier: MIT */
/*
 * The C library's own functions, behind those that this library interposes. In a
 * static program nothing is interposed, and these are the functions themselves.
 */
#ifndef LIBKADAPT_NEXT_H
#define LIBKADAPT_NEXT_H

#include <grp.h>
#include <linux/capability.h>
#include <stdio.h>
#include <sys/fsuid.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/device_file.h"

/*
 * Before these, the library unbinds all rings, because they change what the process may
 * write or what a descriptor means, or they mean all files. Only dynamic programs have
 * them.
 */
#define KADAPT_UNBINDING_FUNCTIONS(FUNCTION)                                                       \
	FUNCTION(int, setrlimit, (__rlimit_resource_t which, const struct rlimit *limit),          \
		 (which, limit))                                                                   \
	FUNCTION(int, setrlimit64, (__rlimit_resource_t which, const struct rlimit64 *limit),      \
		 (which, limit))                                                                   \
	FUNCTION(int, prlimit,                                                                     \
		 (pid_t process, enum __rlimit_resource which, const struct rlimit *limit,         \
		  struct rlimit *before),                                                          \
		 (process, which, limit, before))                                                  \
	FUNCTION(int, prlimit64,                                                                   \
		 (pid_t process, enum __rlimit_resource which, const struct rlimit64 *limit,       \
		  struct rlimit64 *before),                                                        \
		 (process, which, limit, before))                                                  \
	FUNCTION(int, setuid, (uid_t user), (user))                                                \
	FUNCTION(int, seteuid, (uid_t user), (user))                                               \
	FUNCTION(int, setreuid, (uid_t real, uid_t effective), (real, effective))                  \
	FUNCTION(int, setresuid, (uid_t real, uid_t effective, uid_t saved),                       \
		 (real, effective, saved))                                                         \
	FUNCTION(int, setfsuid, (uid_t user), (user))                                              \
	FUNCTION(int, setgid, (gid_t group), (group))                                              \
	FUNCTION(int, setegid, (gid_t group), (group))                                             \
	FUNCTION(int, setregid, (gid_t real, gid_t effective), (real, effective))                  \
	FUNCTION(int, setresgid, (gid_t real, gid_t effective, gid_t saved),                       \
		 (real, effective, saved))                                                         \
	FUNCTION(int, setfsgid, (gid_t group), (group))                                            \
	FUNCTION(int, setgroups, (size_t count, const gid_t *groups), (count, groups))             \
	FUNCTION(                                                                                  \
	    int, capset,                                                                           \
	    (struct __user_cap_header_struct * header, const struct __user_cap_data_struct *data), \
	    (header, data))                                                                        \
	FUNCTION(long, ulimit, (int command, long limit), (command, limit))                        \
	FUNCTION(int, unshare, (int flags), (flags))                                               \
	FUNCTION(int, close_range, (unsigned int first, unsigned int last, int flags),             \
		 (first, last, flags))                                                             \
	FUNCTION(int, syncfs, (int descriptor), (descriptor))                                      \
	FUNCTION(void, sync, (void), ())

/*
 * Before these, the library unbinds the descriptor's ring: the kernel reads the file's
 * size for them before it calls the guard. Only dynamic programs have them. Two are
 * variadic in the C library; x86-64 passes their third argument alike.
 */
#define KADAPT_SIZE_FUNCTIONS(FUNCTION)                                                            \
	FUNCTION(int, ioctl, (int descriptor, unsigned long request, unsigned long argument),      \
		 (descriptor, request, argument))                                                  \
	FUNCTION(int, fcntl, (int descriptor, int command, unsigned long argument),                \
		 (descriptor, command, argument))                                                  \
	FUNCTION(int, fcntl64, (int descriptor, int command, unsigned long argument),              \
		 (descriptor, command, argument))                                                  \
	FUNCTION(int, lockf, (int descriptor, int command, off_t size),                            \
		 (descriptor, command, size))                                                      \
	FUNCTION(int, lockf64, (int descriptor, int command, off64_t size),                        \
		 (descriptor, command, size))                                                      \
	FUNCTION(ssize_t, copy_file_range,                                                         \
		 (int descriptor, off64_t *from, int target, off64_t *to, size_t size,             \
		  unsigned int flags),                                                             \
		 (descriptor, from, target, to, size, flags))

/* (type, name, parameters, arguments) */
#define KADAPT_NEXT_FUNCTIONS(FUNCTION)                                                            \
	FUNCTION(ssize_t, write, (int descriptor, const void *record, size_t size),                \
		 (descriptor, record, size))                                                       \
	FUNCTION(ssize_t, writev, (int descriptor, const struct iovec *pieces, int count),         \
		 (descriptor, pieces, count))                                                      \
	FUNCTION(ssize_t, send, (int descriptor, const void *record, size_t size, int flags),      \
		 (descriptor, record, size, flags))                                                \
	FUNCTION(int, fflush, (FILE * stream), (stream))                                           \
	FUNCTION(int, fflush_unlocked, (FILE * stream), (stream))

#define KADAPT_DECLARE_NEXT(type, name, parameters, arguments)                                     \
	KADAPT_HIDDEN type kadapt_next_##name parameters;
KADAPT_NEXT_FUNCTIONS(KADAPT_DECLARE_NEXT)
KADAPT_UNBINDING_FUNCTIONS(KADAPT_DECLARE_NEXT)
KADAPT_SIZE_FUNCTIONS(KADAPT_DECLARE_NEXT)
#undef KADAPT_DECLARE_NEXT

#endif
