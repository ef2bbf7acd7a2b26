/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef WATCH_H
#define WATCH_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Flags of clone and unshare. CLONE_NEWTIME is none of clone's: its bit belongs to the signal. */
#define NAMESPACES                                                                                 \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |             \
	 CLONE_NEWPID | CLONE_NEWNET)
#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

/* Sizes of the tables in struct findings. */
enum { CALLS = 1024, FAMILIES = 64, PATTERNS = 256, NAMES = 64, NAME_SIZE = 64 };

/* The calls and files to look for, and all that was seen. */
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
 * Has the kernel notify a listener of the calls of this process and all its descendants. Returns
 * the listener's descriptor, which exec closes, or -1 with errno if the kernel cannot notify.
 */
int install_filter(const struct findings *findings);

/* Answers the listener's notifications until the command ends; returns its wait status. */
int serve(int listener, pid_t command, struct findings *findings);

/* Answers the listener's notifications until the last watched process has ended. */
void serve_rest(int listener, struct findings *findings);

/* Records in `findings` what one call of a process asks for. */
void observe(struct findings *findings, pid_t process, int call, const unsigned long long *words);

#endif
