// SPDX-License-Identifier: MIT
/*
 * Interposed: calls that begin or end a process, and those that change what a
 * binding keeps of it. fork() is seen by pthread_atfork(), exec and death by the
 * kernel.
 */
#define _GNU_SOURCE
#include <grp.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <sys/resource.h>
#include <unistd.h>

#include "interpose.h"

#define ALL kadapt_release_all()

INTERPOSE(ALL, int, system, (const char *command), (command))
INTERPOSE(ALL, FILE *, popen, (const char *command, const char *mode), (command, mode))
INTERPOSE(ALL, int, posix_spawn,
	  (pid_t * process, const char *path, const posix_spawn_file_actions_t *actions,
	   const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[]),
	  (process, path, actions, attributes, arguments, environment))
INTERPOSE(ALL, int, posix_spawnp,
	  (pid_t * process, const char *path, const posix_spawn_file_actions_t *actions,
	   const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[]),
	  (process, path, actions, attributes, arguments, environment))
INTERPOSE(ALL, pid_t, _Fork, (void), ())
INTERPOSE(ALL, int, daemon, (int keep_folder, int keep_streams), (keep_folder, keep_streams))

INTERPOSE_LAST(ALL, _exit, (int status), (status))
INTERPOSE_LAST(ALL, _Exit, (int status), (status))
INTERPOSE_LAST(ALL, quick_exit, (int status), (status))

INTERPOSE(ALL, int, setrlimit, (__rlimit_resource_t resource, const struct rlimit *limit),
	  (resource, limit))
INTERPOSE(ALL, int, setrlimit64, (__rlimit_resource_t resource, const struct rlimit64 *limit),
	  (resource, limit))
INTERPOSE(ALL, int, prlimit,
	  (pid_t process, enum __rlimit_resource resource, const struct rlimit *limit,
	   struct rlimit *old),
	  (process, resource, limit, old))
INTERPOSE(ALL, int, prlimit64,
	  (pid_t process, enum __rlimit_resource resource, const struct rlimit64 *limit,
	   struct rlimit64 *old),
	  (process, resource, limit, old))
INTERPOSE(ALL, int, setuid, (uid_t user), (user))
INTERPOSE(ALL, int, setgid, (gid_t group), (group))
INTERPOSE(ALL, int, seteuid, (uid_t user), (user))
INTERPOSE(ALL, int, setegid, (gid_t group), (group))
INTERPOSE(ALL, int, setreuid, (uid_t real, uid_t effective), (real, effective))
INTERPOSE(ALL, int, setregid, (gid_t real, gid_t effective), (real, effective))
INTERPOSE(ALL, int, setresuid, (uid_t real, uid_t effective, uid_t saved), (real, effective, saved))
INTERPOSE(ALL, int, setresgid, (gid_t real, gid_t effective, gid_t saved), (real, effective, saved))
INTERPOSE(ALL, int, setfsuid, (uid_t user), (user))
INTERPOSE(ALL, int, setfsgid, (gid_t group), (group))
INTERPOSE(ALL, int, setgroups, (size_t count, const gid_t *groups), (count, groups))

#ifdef __x86_64__
/*
 * vfork() returns twice, into its caller's frame, so nothing of ours may be on
 * the stack when it is called: the original is jumped to.
 */
static void *next_vfork;

__attribute__((used)) KADAPT_HIDDEN void *kadapt_before_vfork(void);

void *kadapt_before_vfork(void)
{
	kadapt_release_all();
	return next_vfork ? next_vfork : kadapt_find("vfork", &next_vfork);
}

__asm__(".text\n"
	".globl vfork\n"
	".type vfork, @function\n"
	"vfork:\n"
	"	subq $8, %rsp\n"
	"	call kadapt_before_vfork\n"
	"	addq $8, %rsp\n"
	"	jmp *%rax\n"
	".size vfork, .-vfork\n");
#endif

const void *const kadapt_interposed_processes = system;
