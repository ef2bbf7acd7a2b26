// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Starts virtiofsd and becomes QEMU:
 *
 *   kadence-file-server SERVER... -- QEMU...
 *
 * The server gets a listening socket as descriptor 6, and QEMU a connection to that socket as
 * descriptor 7. The socket has an abstract name, so no file is left behind. The server ends when
 * QEMU does. Both are in the process group that the relay's keeper kills (../relay/kernel.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* The doorbell, the shared memory and the monitor: see ../relay/kernel.c. */
#define MACHINES_FIRST 3
#define MACHINES_LAST 5
#define LISTENER 6
#define CONNECTION 7

static noreturn void fail(const char *what)
{
	fprintf(stderr, "kadence-file-server: %s: %s\n", what, strerror(errno));
	exit(EXIT_FAILURE);
}

static int open_socket(int target)
{
	int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (made < 0 || (made != target && dup3(made, target, O_CLOEXEC) < 0))
		fail("socket");
	if (made != target)
		close(made);
	return target;
}

/* Binding an address without a name has the kernel choose an abstract one. */
static void connect_pair(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	socklen_t length = sizeof(sa_family_t);
	int listener = open_socket(LISTENER);
	int connection = open_socket(CONNECTION);

	if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 1))
		fail("bind");
	length = sizeof(address);
	if (getsockname(listener, (struct sockaddr *)&address, &length) ||
	    connect(connection, (struct sockaddr *)&address, length))
		fail("connect");
}

static noreturn void become(char **words, int descriptor)
{
	if (fcntl(descriptor, F_SETFD, 0))
		fail("fcntl");
	execv(words[0], words);
	fail(words[0]);
}

static char **find_second(char **words)
{
	while (*words && strcmp(*words, "--") != 0)
		words++;
	errno = EINVAL;
	if (!words[0] || !words[1])
		fail("arguments");
	*words = NULL;
	return words + 1;
}

int main(int count, char **arguments)
{
	char **server = arguments + 1;
	char **machine;

	errno = EINVAL;
	if (count < 4)
		fail("arguments");
	machine = find_second(server);
	connect_pair();
	switch (fork()) {
	case -1:
		fail("fork");
	case 0:
		/* Only QEMU may hold these, so that the relay sees QEMU's end. */
		close_range(MACHINES_FIRST, MACHINES_LAST, 0);
		become(server, LISTENER);
	default:
		become(machine, CONNECTION);
	}
}
