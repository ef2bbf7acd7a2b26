// SPDX-License-Identifier: GPL-2.0-or-later
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "causes.h"

static int connected(int *other)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);
	int listening = socket(AF_INET, SOCK_STREAM, 0), one = 1;
	int connecting = socket(AF_INET, SOCK_STREAM, 0);

	check(bind(listening, (struct sockaddr *)&address, size));
	check(listen(listening, 1));
	getsockname(listening, (struct sockaddr *)&address, &size);
	check(connect(connecting, (struct sockaddr *)&address, size));
	setsockopt(connecting, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	*other = accept(listening, NULL, NULL);
	close(listening);
	return connecting;
}

static void send_in(size_t size, int times)
{
	int there, here = connected(&there);

	for (int i = 0; i < times; i++) {
		check(write(here, block, size));
		check(read(there, into, size));
	}
	close(here);
	close(there);
}

void small_sends(void)
{
	send_in(8, 300);
}

void large_sends(void)
{
	send_in(32 << 10, 10);
}
