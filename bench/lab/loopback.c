// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "loopback.h"

/*
 * A guest's loopback device may be down. If the program may not change this, a later call reports
 * the error.
 */
static void loopback_up(int any_socket)
{
	struct ifreq device = {.ifr_name = "lo"};

	if (ioctl(any_socket, SIOCGIFFLAGS, &device))
		return;
	device.ifr_flags |= IFF_UP;
	(void)ioctl(any_socket, SIOCSIFFLAGS, &device);
}

int loopback_listen(struct sockaddr_in *address)
{
	socklen_t length = sizeof(*address);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (listener < 0)
		return -errno;
	loopback_up(listener);
	*address =
	    (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	if (bind(listener, (struct sockaddr *)address, length) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)address, &length)) {
		int error = -errno;

		close(listener);
		return error;
	}
	return listener;
}
