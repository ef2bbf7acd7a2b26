// SPDX-License-Identifier: GPL-2.0-or-later
/* QEMU's monitor for people: it prompts, takes a line, answers, and prompts again. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "relay.h"

#define PROMPT "(qemu) "
#define PATIENCE_MS 10000

/* Reads until the monitor waits for a line. */
static void await_prompt(int monitor)
{
	char tail[sizeof(PROMPT)] = "";
	struct pollfd entry = {.fd = monitor, .events = POLLIN};
	char byte;

	while (strcmp(tail, PROMPT) != 0) {
		errno = ETIMEDOUT;
		if (poll(&entry, 1, PATIENCE_MS) <= 0 || recv(monitor, &byte, 1, 0) != 1)
			fail("QEMU's monitor");
		memmove(tail, tail + 1, sizeof(tail) - 2);
		tail[sizeof(tail) - 2] = byte;
	}
}

/* Sends the monitor lines, each after the answer to the line before. */
void monitor_tell(int monitor, const char *commands)
{
	while (*commands) {
		size_t length = strcspn(commands, "\n") + 1;

		await_prompt(monitor);
		if (send(monitor, commands, length, MSG_NOSIGNAL) != (ssize_t)length)
			fail("QEMU's monitor");
		commands += length;
	}
	await_prompt(monitor);
}
