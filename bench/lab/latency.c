// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A request of 64 bytes to another process and its answer, over a socket. Sockets have no rings, so
 * the adapted program must take as long as the plain one.
 */
#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "place.h"

#define MESSAGE_BYTES 64

static int ours = -1;
static pid_t partner;

static int receive_whole(int end, char *message)
{
	for (long done = 0; done < MESSAGE_BYTES;) {
		ssize_t got = recv(end, message + done, MESSAGE_BYTES - done, 0);

		if (got <= 0)
			return got ? -errno : -EPIPE;
		done += got;
	}
	return 0;
}

static int send_whole(int end, const char *message)
{
	return send(end, message, MESSAGE_BYTES, 0) == MESSAGE_BYTES ? 0 : -errno;
}

static void answer_all(int end)
{
	char message[MESSAGE_BYTES];

	while (receive_whole(end, message) == 0 && send_whole(end, message) == 0)
		;
	_exit(0);
}

static int open_partner(long argument)
{
	int ends[2];
	int error = PLACE_OF(argument) == PLACE_TCP ? connect_over_tcp(ends)
		    : socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) ? -errno
									       : 0;

	if (error)
		return error;
	partner = fork();
	if (partner == 0) {
		close(ends[0]);
		answer_all(ends[1]);
	}
	close(ends[1]);
	ours = ends[0];
	return partner < 0 ? -errno : 0;
}

static int run_pingpong(long unused, long count)
{
	char message[MESSAGE_BYTES] = "request";
	int error = 0;

	(void)unused;
	for (long i = 0; !error && i < count; i++) {
		error = send_whole(ours, message);
		if (!error)
			error = receive_whole(ours, message);
	}
	return error;
}

static void close_partner(void)
{
	if (ours >= 0)
		close(ours);
	ours = -1;
	if (partner > 0) {
		kill(partner, SIGKILL);
		waitpid(partner, NULL, 0);
	}
	partner = 0;
}

#define PINGPONG(place_name, kind)                                                                 \
	{                                                                                          \
		.name = #place_name ".pingpong.64", .unit = "ns",                                  \
		.argument = PLACED(kind, MESSAGE_BYTES), .batch = 1000, .crossings = 4,            \
		.prepare = open_partner, .run = run_pingpong, .finish = close_partner,             \
	}

const struct operation latency_operations[] = {
    PINGPONG(tcp, PLACE_TCP),
    PINGPONG(local, PLACE_UNIX),
    {0},
};
