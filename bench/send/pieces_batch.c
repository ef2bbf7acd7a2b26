// SPDX-License-Identifier: GPL-2.0-or-later
/* pieces.c as the compiler adapts it: the loop is one call. */
#include "send.h"

#include "libkadapt.h"

void send_pieces(int socket, const char *buffer, size_t size)
{
	uint64_t count = BUFFER_BYTES / size;
	int64_t last;

	if (kadapt_batch_send(socket, buffer, size, size, count, 0, &last) != (int64_t)count)
		die("send");
}
