// SPDX-License-Identifier: MIT
/*
 * In the place of fwrite(), fprintf() and their like. A record goes into the
 * stream's ring, where it has one, and else into its own buffer as ever.
 *
 * Each function exists twice, as in the C library: one that locks the stream,
 * and one that does not. The lock is not held over the plain call, which has its
 * own and may be where the thread is cancelled. Before either, a thread that is
 * alone tries the short way (stream_append.h), on which nothing needs a lock.
 */
#define _GNU_SOURCE
#include <stddef.h>
#include <string.h>

#include "libkadapt.h"
#include "next.h"
#include "stream_append.h"

typedef enum kadapt_outcome (*try_function)(FILE *stream, const struct kadapt_record *record);

static enum kadapt_outcome try_locked(FILE *stream, const struct kadapt_record *record)
{
	enum kadapt_outcome outcome;
	int was_locked;

	if (!kadapt_stream_channel(stream))
		return KADAPT_PLAIN;
	was_locked = kadapt_stream_lock(stream);
	outcome = kadapt_stream_try(stream, record);
	kadapt_stream_unlock(stream, was_locked);
	return outcome;
}

/* `plain` is the plain call's expression, `taken` the bytes it took, by its result. */
#define TRY_ELSE(try, stream, record, appended, failed, plain, taken)                              \
	do {                                                                                       \
		__typeof__(plain) result;                                                          \
		enum kadapt_outcome outcome;                                                       \
                                                                                                   \
		if (!kadapt_has_rings)                                                             \
			return plain;                                                              \
		outcome = try(stream, record);                                                     \
		if (outcome == KADAPT_APPENDED)                                                    \
			return appended;                                                           \
		if (outcome == KADAPT_FAILED)                                                      \
			return failed;                                                             \
		result = plain;                                                                    \
		kadapt_stream_buffered(stream, taken);                                             \
		return result;                                                                     \
	} while (0)

/* What overflows is for the plain call to refuse. */
static size_t product(size_t size, size_t count)
{
	size_t bytes;

	return __builtin_mul_overflow(size, count, &bytes) ? 0 : bytes;
}

#define SLOWLY static __attribute__((noinline))

SLOWLY size_t fwrite_slowly(const void *records, size_t size, size_t count, FILE *stream)
{
	const struct kadapt_record record = {.bytes = records, .size = product(size, count)};

	TRY_ELSE(try_locked, stream, &record, count, 0,
		 kadapt_next_fwrite(records, size, count, stream), size * result);
}

SLOWLY size_t fwrite_unlocked_slowly(const void *records, size_t size, size_t count, FILE *stream)
{
	const struct kadapt_record record = {.bytes = records, .size = product(size, count)};

	TRY_ELSE(kadapt_stream_try, stream, &record, count, 0,
		 kadapt_next_fwrite_unlocked(records, size, count, stream), size * result);
}

typedef size_t (*fwrite_function)(const void *, size_t, size_t, FILE *);

/* Functions of their own, so that the short way needs no frame. */
SLOWLY size_t fwrite_again(const void *records, size_t size, size_t count, FILE *stream,
			   fwrite_function slowly)
{
	if (kadapt_stream_recover(stream, size * count))
		return count;
	return slowly(records, size, count, stream);
}

static inline __attribute__((always_inline)) size_t
fwrite_or(fwrite_function slowly, const void *records, size_t size, size_t count, FILE *stream)
{
	switch (kadapt_stream_append_short(stream, records, product(size, count), 0)) {
	case KADAPT_SHORT_DONE:
		return count;
	case KADAPT_SHORT_RECOVER:
		return fwrite_again(records, size, count, stream, slowly);
	default:
		return slowly(records, size, count, stream);
	}
}

size_t kadapt_fwrite(const void *records, size_t size, size_t count, FILE *stream)
{
	return fwrite_or(fwrite_slowly, records, size, count, stream);
}

size_t kadapt_fwrite_unlocked(const void *records, size_t size, size_t count, FILE *stream)
{
	return fwrite_or(fwrite_unlocked_slowly, records, size, count, stream);
}

SLOWLY int fputs_slowly(const char *text, size_t length, FILE *stream)
{
	const struct kadapt_record record = {.bytes = text, .size = length};

	TRY_ELSE(try_locked, stream, &record, 1, EOF, kadapt_next_fputs(text, stream),
		 result >= 0 ? length : 0);
}

SLOWLY int fputs_unlocked_slowly(const char *text, size_t length, FILE *stream)
{
	const struct kadapt_record record = {.bytes = text, .size = length};

	TRY_ELSE(kadapt_stream_try, stream, &record, 1, EOF,
		 kadapt_next_fputs_unlocked(text, stream), result >= 0 ? length : 0);
}

int kadapt_fputs(const char *text, FILE *stream)
{
	const size_t length = strlen(text);

	return kadapt_stream_append(stream, text, length, 0) ? 1
							     : fputs_slowly(text, length, stream);
}

int kadapt_fputs_unlocked(const char *text, FILE *stream)
{
	const size_t length = strlen(text);

	return kadapt_stream_append(stream, text, length, 0)
		   ? 1
		   : fputs_unlocked_slowly(text, length, stream);
}

SLOWLY int puts_slowly(const char *text, size_t length)
{
	const struct iovec pieces[] = {
	    {.iov_base = (void *)text, .iov_len = length},
	    {.iov_base = "\n", .iov_len = 1},
	};
	const struct kadapt_record record = {
	    .pieces = pieces, .piece_count = 2, .size = length + 1};

	TRY_ELSE(try_locked, stdout, &record, (int)record.size, EOF, kadapt_next_puts(text),
		 record.size);
}

int kadapt_puts(const char *text)
{
	const size_t length = strlen(text);

	return kadapt_stream_append(stdout, text, length, 1) ? (int)length + 1
							     : puts_slowly(text, length);
}

SLOWLY int put_byte_slowly(try_function try, int (*plain)(int, FILE *), int character, FILE *stream)
{
	const unsigned char byte = (unsigned char)character;
	const struct kadapt_record record = {.bytes = &byte, .size = 1};

	TRY_ELSE(try, stream, &record, byte, EOF, plain(character, stream), 1);
}

int kadapt_fputc(int character, FILE *stream)
{
	const char byte = (char)character;

	return kadapt_stream_append(stream, &byte, 1, 0)
		   ? (unsigned char)character
		   : put_byte_slowly(try_locked, kadapt_next_fputc, character, stream);
}

int kadapt_fputc_unlocked(int character, FILE *stream)
{
	const char byte = (char)character;

	return kadapt_stream_append(stream, &byte, 1, 0)
		   ? (unsigned char)character
		   : put_byte_slowly(kadapt_stream_try, kadapt_next_fputc_unlocked, character,
				     stream);
}

int kadapt_putc(int character, FILE *stream) __attribute__((alias("kadapt_fputc")));
int kadapt_putc_unlocked(int character, FILE *stream)
    __attribute__((alias("kadapt_fputc_unlocked")));

int kadapt_putchar(int character)
{
	return kadapt_fputc(character, stdout);
}

int kadapt_putchar_unlocked(int character)
{
	return kadapt_fputc_unlocked(character, stdout);
}

int kadapt_fflush(FILE *stream)
{
	return kadapt_stream_flush(stream, kadapt_next_fflush);
}

int kadapt_fflush_unlocked(FILE *stream)
{
	return kadapt_stream_flush(stream, kadapt_next_fflush_unlocked);
}
