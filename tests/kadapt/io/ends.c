// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ends.h"

static int open_tcp(int ends[2])
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000001)};
	socklen_t length = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	int status = -1;

	ends[1] = socket(AF_INET, SOCK_STREAM, 0);
	if (!bind(listener, (struct sockaddr *)&address, length) && !listen(listener, 1) &&
	    !getsockname(listener, (struct sockaddr *)&address, &length) &&
	    !connect(ends[1], (struct sockaddr *)&address, length)) {
		ends[0] = accept(listener, NULL, NULL);
		status = ends[0] < 0 ? -1 : 0;
	}
	close(listener);
	return status;
}

int ends_open(int ends[2], enum ends_kind kind)
{
	if (kind == ENDS_PIPE)
		return pipe(ends);
	return kind == ENDS_UNIX ? socketpair(AF_UNIX, SOCK_STREAM, 0, ends) : open_tcp(ends);
}
