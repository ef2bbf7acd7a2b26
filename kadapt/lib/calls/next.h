/* SPDX-License-Identifier: MIT */
/*
 * The C library's own functions, behind those that this library interposes. In a
 * static program nothing is interposed, and these are the functions themselves.
 */
#ifndef LIBKADAPT_NEXT_H
#define LIBKADAPT_NEXT_H

#include <grp.h>
#include <stdio.h>
#include <sys/fsuid.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/device_file.h"

/* These change what the process may write. Only dynamic programs have them. */
#define KADAPT_RIGHTS_FUNCTIONS(FUNCTION)                                                          \
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
	FUNCTION(int, setgroups, (size_t count, const gid_t *groups), (count, groups))

/* (type, name, parameters, arguments) */
#define KADAPT_NEXT_FUNCTIONS(FUNCTION)                                                            \
	FUNCTION(ssize_t, write, (int descriptor, const void *record, size_t size),                \
		 (descriptor, record, size))                                                       \
	FUNCTION(ssize_t, writev, (int descriptor, const struct iovec *pieces, int count),         \
		 (descriptor, pieces, count))                                                      \
	FUNCTION(ssize_t, send, (int descriptor, const void *record, size_t size, int flags),      \
		 (descriptor, record, size, flags))                                                \
	FUNCTION(int, fflush, (FILE * stream), (stream))                                           \
	FUNCTION(int, fflush_unlocked, (FILE * stream), (stream))                                  \
	FUNCTION(int, prctl,                                                                       \
		 (int option, unsigned long second, unsigned long third, unsigned long fourth,     \
		  unsigned long fifth),                                                            \
		 (option, second, third, fourth, fifth))                                           \
	FUNCTION(long, syscall,                                                                    \
		 (long number, long first, long second, long third, long fourth, long fifth,       \
		  long sixth),                                                                     \
		 (number, first, second, third, fourth, fifth, sixth))

#define KADAPT_DECLARE_NEXT(type, name, parameters, arguments)                                     \
	KADAPT_HIDDEN type kadapt_next_##name parameters;
KADAPT_NEXT_FUNCTIONS(KADAPT_DECLARE_NEXT)
KADAPT_RIGHTS_FUNCTIONS(KADAPT_DECLARE_NEXT)
#undef KADAPT_DECLARE_NEXT

#endif
