// SPDX-License-Identifier: MIT
/*
 * The callers of all these functions hold the lock. If memory or disk space runs out, the runtime
 * gives up writing permanently.
 */
#include "kprofile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FIRST_ROOM = 1 << 16 };

static unsigned char *buffer;
static size_t used, capacity, frame;
static bool begun, given_up;
static int kept = -1;

static bool reserve(size_t more)
{
	size_t wanted = capacity ? capacity : FIRST_ROOM;
	void *larger;

	while (wanted < used + more)
		wanted *= 2;
	if (wanted > capacity) {
		larger = memory_grow(buffer, used, wanted);
		given_up |= !larger;
		if (larger) {
			buffer = larger;
			capacity = wanted;
		}
	}
	return !given_up;
}

static void put(const void *bytes, size_t length)
{
	if (!reserve(length))
		return;
	memcpy(buffer + used, bytes, length);
	used += length;
}

void stream_number(uint64_t value)
{
	if (!reserve(LONGEST_NUMBER))
		return;
	for (; value >= 0x80; value >>= 7)
		buffer[used++] = (unsigned char)(value | 0x80);
	buffer[used++] = (unsigned char)value;
}

void stream_text(const char *text, size_t length)
{
	stream_number(length);
	put(text, length);
}

void stream_checksum(uint32_t checksum)
{
	static const char digits[] = "0123456789abcdef";
	char text[8];

	for (int digit = 7; digit >= 0; digit--, checksum >>= 4)
		text[digit] = digits[checksum & 15];
	stream_text(text, sizeof(text));
}

/* CRC-32 as in zlib, four bits at a time. */
static uint32_t checksum_of(uint32_t checksum, const unsigned char *bytes, size_t length)
{
	static const uint32_t table[16] = {
	    0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
	    0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
	    0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
	};

	checksum = ~checksum;
	for (size_t at = 0; at < length; at++) {
		checksum = table[(checksum ^ bytes[at]) & 15] ^ checksum >> 4;
		checksum = table[(checksum ^ bytes[at] >> 4) & 15] ^ checksum >> 4;
	}
	return ~checksum;
}

void stream_begin(enum frame kind)
{
	char header[FRAME_HEADER] = {(char)kind};

	if (!begun) {
		begun = true;
		put(STREAM_HEAD, STREAM_HEAD_BYTES);
		output_describe();
	}
	frame = used;
	put(header, sizeof(header));
}

void stream_finish(void)
{
	uint32_t length = (uint32_t)(used - frame - FRAME_HEADER), checksum;

	if (given_up)
		return;
	memcpy(buffer + frame + 1, &length, sizeof(length));
	checksum = checksum_of(0, buffer + frame, BEFORE_CHECKSUM);
	checksum = checksum_of(checksum, buffer + frame + FRAME_HEADER, length);
	memcpy(buffer + frame + BEFORE_CHECKSUM, &checksum, sizeof(checksum));
}

void stream_forget(void)
{
	used = 0;
	begun = given_up = false;
	kept = -1; /* the sampler's descriptor, which this process does not have */
}

static int open_profile(bool create)
{
	return (int)call_kernel(SYS_openat, AT_FDCWD, (long)output_path(),
				O_WRONLY | O_APPEND | O_CLOEXEC | (create ? O_CREAT | O_TRUNC : 0),
				0600, 0);
}

static bool write_all(int descriptor)
{
	size_t written = 0;

	while (written < used) {
		long step = call_kernel(SYS_write, descriptor, (long)(buffer + written),
					(long)(used - written), 0, 0);
		if (step == -EINTR)
			continue;
		if (step <= 0)
			return false;
		written += (size_t)step;
	}
	return true;
}

void stream_flush(bool keep)
{
	static bool created;
	int descriptor = keep ? kept : -1;

	if (given_up || used == 0)
		return;
	if (used >= STREAM_HEAD_BYTES && !memcmp(buffer, STREAM_HEAD, STREAM_HEAD_BYTES))
		created = false;
	if (descriptor < 0)
		descriptor = open_profile(!created);
	created = true;
	given_up = descriptor < 0 || !write_all(descriptor);
	used = 0;
	if (keep)
		kept = descriptor;
	else if (descriptor >= 0)
		call_kernel(SYS_close, descriptor, 0, 0, 0, 0);
}
