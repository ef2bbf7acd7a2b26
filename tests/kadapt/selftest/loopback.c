// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "loopback.h"

/* A bare guest has its loopback device down. */
static void loopback_up(int any_socket)
{
	struct ifreq device = {.ifr_name = "lo"};

	if (ioctl(any_socket, SIOCGIFFLAGS, &device))
		return;
	device.ifr_flags |= IFF_UP;
	(void)ioctl(any_socket, SIOCSIFFLAGS, &device);
}

static int listen_anywhere(struct sockaddr_in *address)
{
	socklen_t length = sizeof(*address);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (listener < 0)
		return -1;
	loopback_up(listener);
	*address = (struct sockaddr_in){
	    .sin_family = AF_INET,
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	if (bind(listener, (struct sockaddr *)address, length) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)address, &length)) {
		close(listener);
		return -1;
	}
	return listener;
}

int connect_over_tcp(int ends[2])
{
	struct sockaddr_in address;
	int listener = listen_anywhere(&address);

	if (listener < 0)
		return -1;
	ends[1] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (ends[1] < 0 || connect(ends[1], (struct sockaddr *)&address, sizeof(address))) {
		close(listener);
		return -1;
	}
	ends[0] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	close(listener);
	return ends[0] < 0 ? -1 : 0;
}
