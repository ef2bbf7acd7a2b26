// SPDX-License-Identifier: GPL-2.0-or-later
/* Keeps the guest's log within bounds: of a very long log, the beginning and the end. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "relay.h"

#define LOG_LIMIT (1 << 20)
#define LOG_PIECE (1 << 16)

static const char gap[] = "\n[...]\n";

/* Makes room by dropping the third quarter, so that beginning and end stay. */
static void shorten(struct log *log)
{
	size_t keep = LOG_LIMIT / 2;

	memcpy(log->bytes + keep, gap, strlen(gap));
	memmove(log->bytes + keep + strlen(gap), log->bytes + log->length - LOG_LIMIT / 4,
		LOG_LIMIT / 4);
	log->length = keep + strlen(gap) + LOG_LIMIT / 4;
}

void log_read(struct log *log)
{
	ssize_t length;

	if (!log->bytes)
		log->bytes = malloc(LOG_LIMIT);
	if (!log->bytes)
		fail("malloc");
	do {
		if (log->length + LOG_PIECE > LOG_LIMIT)
			shorten(log);
		length = read(log->descriptor, log->bytes + log->length, LOG_PIECE);
		if (length > 0)
			log->length += (size_t)length;
	} while (length > 0);
}
