/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef WATCH_H
#define WATCH_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Flags of clone and unshare; the newest is no flag of clone, where its bit is part of a signal. */
#define NAMESPACES                                                                                 \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |             \
	 CLONE_NEWPID | CLONE_NEWNET)
#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

/* What is looked for, and of it what was met. */
enum { CALLS = 1024, FAMILIES = 64, PATTERNS = 256, NAMES = 64, NAME_SIZE = 64 };

struct findings {
	bool wanted[CALLS]; /* system calls, by their numbers on x86_64 */
	bool made[CALLS];
	bool families[FAMILIES];	/* of sockets */
	const char *patterns[PATTERNS]; /* of names of files, as for fnmatch(3) */
	bool opened[PATTERNS];
	size_t pattern_count;
	char file_systems[NAMES][NAME_SIZE]; /* types that were mounted */
	size_t file_system_count;
};

/*
 * Has the calls of this process and of all that come from it told to the descriptor that is
 * returned; -1 and errno where the kernel can't. The descriptor is closed by exec.
 */
int install_filter(const struct findings *findings);

/* Answers what the descriptor tells until the command ends; returns its wait status. */
int serve(int listener, pid_t command, struct findings *findings);

/* Goes on answering until the last process that is watched has ended. */
void serve_rest(int listener, struct findings *findings);

/* Looks at one call of a process. */
void observe(struct findings *findings, pid_t process, int call, const unsigned long long *words);

#endif
