// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The watcher's side of the watched processes' calls. It lets every call continue unchanged. The
 * processes share one listener, whose POLLHUP reports that the last of them has ended.
 */
#include <errno.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "watch.h"

struct room {
	struct seccomp_notif *call;
	struct seccomp_notif_resp *answer;
	struct seccomp_notif_sizes sizes;
};

static size_t larger(size_t one, size_t other)
{
	return one > other ? one : other;
}

/* A newer kernel may have larger structures than these headers. */
static bool make_room(struct room *room)
{
	if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &room->sizes))
		return false;
	room->call = calloc(1, larger(room->sizes.seccomp_notif, sizeof(*room->call)));
	room->answer = calloc(1, larger(room->sizes.seccomp_notif_resp, sizeof(*room->answer)));
	return room->call && room->answer;
}

/* A process that was killed meanwhile needs no answer, so errors are ignored. */
static void answer_one(int listener, struct room *room, struct findings *findings)
{
	memset(room->call, 0, room->sizes.seccomp_notif);
	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, room->call))
		return;
	observe(findings, (pid_t)room->call->pid, room->call->data.nr, room->call->data.args);
	memset(room->answer, 0, room->sizes.seccomp_notif_resp);
	room->answer->id = room->call->id;
	room->answer->flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, room->answer);
}

/* Answers until `end` is readable or no watched process is left. */
static void answer_until(int listener, int end, struct findings *findings)
{
	struct pollfd awaited[] = {{.fd = listener, .events = POLLIN},
				   {.fd = end, .events = POLLIN}};
	struct room room = {0};

	if (!make_room(&room))
		return;
	for (;;) {
		if (poll(awaited, 2, -1) < 0 && errno != EINTR)
			return;
		if (awaited[1].revents || awaited[0].revents & ~POLLIN)
			return;
		if (awaited[0].revents)
			answer_one(listener, &room, findings);
	}
}

int serve(int listener, pid_t command, struct findings *findings)
{
	int end = (int)syscall(SYS_pidfd_open, command, 0);
	int status = 0;

	answer_until(listener, end, findings);
	while (waitpid(command, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

void serve_rest(int listener, struct findings *findings)
{
	answer_until(listener, -1, findings);
}
