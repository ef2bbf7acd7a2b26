// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "trials/line.h"
#include "decide/numbers.h"

#define DECIMALS 1000000000
/* Larger numbers are shown without decimals. */
#define MOST_WITH_DECIMALS 1e9
#define MOST 9e18

void kadapt_line_add(struct kadapt_line *line, const char *format, ...)
{
	size_t room = sizeof(line->text) - line->used;
	va_list values;
	int length;

	va_start(values, format);
	length = vsnprintf(line->text + line->used, room, format, values);
	va_end(values);
	line->used += length >= 0 && (size_t)length < room ? (size_t)length : room;
}

void kadapt_line_begin(struct kadapt_line *line)
{
	line->used = 0;
	kadapt_line_add(line, "{\"process\": %ld", (long)syscall(SYS_getpid));
}

void kadapt_line_number(struct kadapt_line *line, double value)
{
	const char *sign = value < 0 ? "-" : "";
	double size = kadapt_size(value);
	uint64_t whole;

	if (!(size < MOST)) {
		kadapt_line_add(line, "null");
		return;
	}
	whole = (uint64_t)size;
	if (size < MOST_WITH_DECIMALS)
		kadapt_line_add(line, "%s%" PRIu64 ".%09" PRIu64, sign, whole,
				(uint64_t)((size - (double)whole) * DECIMALS));
	else
		kadapt_line_add(line, "%s%" PRIu64, sign, whole);
}

/* CRC-32 as in zlib (ISO 3309). */
static uint32_t sum_of(const char *text, size_t length)
{
	uint32_t sum = UINT32_MAX;

	for (size_t i = 0; i < length; i++) {
		sum ^= (unsigned char)text[i];
		for (int bit = 0; bit < 8; bit++)
			sum = sum & 1 ? sum >> 1 ^ UINT32_C(0xedb88320) : sum >> 1;
	}
	return ~sum;
}

void kadapt_line_write(struct kadapt_line *line, const char *file)
{
	int saved_errno = errno;
	long descriptor;

	kadapt_line_add(line, ", \"sum\": \"%08" PRIx32 "\"}\n", sum_of(line->text, line->used));
	if (line->used < sizeof(line->text)) {
		descriptor = syscall(SYS_openat, AT_FDCWD, file,
				     O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
		if (descriptor >= 0) {
			syscall(SYS_write, descriptor, line->text, line->used);
			syscall(SYS_close, descriptor);
		}
	}
	errno = saved_errno;
}
