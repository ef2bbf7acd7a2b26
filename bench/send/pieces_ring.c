// SPDX-License-Identifier: GPL-2.0-or-later
/* pieces.c as the compiler makes it where it can't show that the loop only sends pieces. */
#include "send.h"

#include "libkadapt.h"

void send_pieces(int socket, const char *buffer, size_t size)
{
	for (size_t i = 0; i < BUFFER_BYTES / size; i++)
		if (kadapt_send(socket, buffer + i * size, size, 0) != (ssize_t)size)
			die("send");
}
