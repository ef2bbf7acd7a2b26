// SPDX-License-Identifier: GPL-2.0-or-later
/* The plain loop: one send for each piece. */
#include <sys/socket.h>

#include "send.h"

void send_pieces(int socket, const char *buffer, size_t size)
{
	for (size_t i = 0; i < BUFFER_BYTES / size; i++)
		if (send(socket, buffer + i * size, size, 0) != (ssize_t)size)
			die("send");
}
