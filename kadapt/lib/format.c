// SPDX-License-Identifier: MIT
/* In the place of fprintf() and its like: the text is made where it goes, in the ring. */
#define _GNU_SOURCE
#include <stddef.h>

#include "append.h"
#include "libkadapt.h"
#include "next.h"
#include "stream.h"

/* A format and how it is to be read: __printf_chk()'s flag, or below 0 printf(). */
struct text {
	const char *format;
	int flag;
	va_list arguments;
};

#define NO_FLAG (-1)

/* Enough for most; what is longer is made twice. */
#define USUAL_LENGTH 256

static int print_into(char *place, size_t room, struct text *text)
{
	va_list arguments;
	int length;

	va_copy(arguments, text->arguments);
	length = text->flag == NO_FLAG
		     ? vsnprintf(place, room, text->format, arguments)
		     : __vsnprintf_chk(place, room, text->flag, room, text->format, arguments);
	va_end(arguments);
	return length;
}

static size_t room_of(const struct kadapt_ring_header *header)
{
	uint64_t limit = kadapt_limit(header);
	uint64_t room = limit > header->tail ? limit - header->tail : 0;

	return room < KADAPT_RECORD_MAX ? room : KADAPT_RECORD_MAX;
}

/* The length, or -1: nothing was appended. The text's end takes a byte that is not published. */
static int append_text(struct kadapt_channel *channel, struct text *text)
{
	size_t needed = USUAL_LENGTH;

	for (int attempt = 0; attempt < 2; attempt++) {
		struct kadapt_ring_header *header;
		int length;

		if (!kadapt_stream_is_ready(channel, needed))
			return -1;
		header = kadapt_header_of(channel);
		length = print_into(kadapt_place(channel, header), room_of(header), text);
		if (length < 0)
			return -1;
		needed = (size_t)length + 1;
		if (needed > room_of(header))
			continue;
		channel->stream_moved = 1;
		return !length || kadapt_publish(channel, header, (size_t)length) ? length : -1;
	}
	return -1;
}

/* The length is not below 0 where the text was appended. */
static enum kadapt_outcome try_text(FILE *stream, struct text *text, int *length)
{
	struct kadapt_channel *channel = kadapt_stream_channel(stream);
	int was_locked;

	if (!channel)
		return KADAPT_PLAIN;
	was_locked = kadapt_stream_lock(stream);
	if (kadapt_channel_enter(channel)) {
		kadapt_end_if_let_go(channel);
		*length = append_text(channel, text);
		kadapt_channel_leave(channel);
	}
	kadapt_stream_unlock(stream, was_locked);
	return *length >= 0 ? KADAPT_APPENDED : kadapt_before_plain(channel, 0);
}

static int print_plain(FILE *stream, struct text *text)
{
	if (text->flag == NO_FLAG)
		return kadapt_next_vfprintf(stream, text->format, text->arguments);
	return kadapt_next___vfprintf_chk(stream, text->flag, text->format, text->arguments);
}

static int print_or_append(FILE *stream, struct text *text)
{
	int length = -1;
	enum kadapt_outcome outcome = try_text(stream, text, &length);

	if (outcome != KADAPT_PLAIN)
		return length;
	length = print_plain(stream, text);
	if (length > 0)
		kadapt_stream_buffered(stream, (size_t)length);
	return length;
}

static int print(FILE *stream, int flag, const char *format, va_list arguments)
{
	struct text text = {.format = format, .flag = flag};
	int length;

	va_copy(text.arguments, arguments);
	length = kadapt_has_rings ? print_or_append(stream, &text) : print_plain(stream, &text);
	va_end(text.arguments);
	return length;
}

int kadapt_vfprintf(FILE *stream, const char *format, va_list arguments)
{
	return print(stream, NO_FLAG, format, arguments);
}

int kadapt_vprintf(const char *format, va_list arguments)
{
	return print(stdout, NO_FLAG, format, arguments);
}

int kadapt___vfprintf_chk(FILE *stream, int flag, const char *format, va_list arguments)
{
	return print(stream, flag, format, arguments);
}

int kadapt___vprintf_chk(int flag, const char *format, va_list arguments)
{
	return print(stdout, flag, format, arguments);
}

/* The function with an ellipsis around the one with a list. */
#define WITH_LIST(call)                                                                            \
	do {                                                                                       \
		va_list arguments;                                                                 \
		int length;                                                                        \
                                                                                                   \
		va_start(arguments, format);                                                       \
		length = call;                                                                     \
		va_end(arguments);                                                                 \
		return length;                                                                     \
	} while (0)

int kadapt_fprintf(FILE *stream, const char *format, ...)
{
	WITH_LIST(kadapt_vfprintf(stream, format, arguments));
}

int kadapt_printf(const char *format, ...)
{
	WITH_LIST(kadapt_vprintf(format, arguments));
}

int kadapt___fprintf_chk(FILE *stream, int flag, const char *format, ...)
{
	WITH_LIST(kadapt___vfprintf_chk(stream, flag, format, arguments));
}

int kadapt___printf_chk(int flag, const char *format, ...)
{
	WITH_LIST(kadapt___vprintf_chk(flag, format, arguments));
}
