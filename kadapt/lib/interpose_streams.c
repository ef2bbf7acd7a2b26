// SPDX-License-Identifier: MIT
/*
 * Interposed: functions of the C library's streams. What is written by calls
 * that were not redirected goes into the stream's own buffer as ever, after what
 * its ring holds.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h>

#include "interpose.h"
#include "libkadapt.h"
#include "next.h"
#include "stream.h"

/* Of programs that were compiled with _FORTIFY_SOURCE, or with inlined putc_unlocked(). */
int __fprintf_chk(FILE *, int, const char *, ...);
int __printf_chk(int, const char *, ...);
int __vprintf_chk(int, const char *, va_list);
int __overflow(FILE *, int);
size_t __fread_chk(void *, size_t, size_t, size_t, FILE *);
size_t __fread_unlocked_chk(void *, size_t, size_t, size_t, FILE *);
char *__fgets_chk(char *, size_t, int, FILE *);
char *__fgets_unlocked_chk(char *, size_t, int, FILE *);

/* The C library has these also as macros. */
#undef fread_unlocked
#undef fwrite_unlocked

#define SETTLE kadapt_stream_settle(stream)
#define LOCATE kadapt_stream_locate(stream)
#define SETTLE_OUT kadapt_stream_settle(stdout)
#define ALL kadapt_settle_all()

/* What shared libraries write goes the same way, if the plan says so. */
#define RING_OR(otherwise, call)                                                                   \
	do {                                                                                       \
		if (kadapt_has_stream_rings)                                                       \
			return call;                                                               \
		otherwise;                                                                         \
	} while (0)

INTERPOSE(RING_OR(SETTLE, kadapt_fwrite(from, size, count, stream)), size_t, fwrite,
	  (const void *from, size_t size, size_t count, FILE *stream), (from, size, count, stream))
INTERPOSE(RING_OR(SETTLE, kadapt_fwrite_unlocked(from, size, count, stream)), size_t,
	  fwrite_unlocked, (const void *from, size_t size, size_t count, FILE *stream),
	  (from, size, count, stream))
INTERPOSE(RING_OR(SETTLE, kadapt_fputs(text, stream)), int, fputs, (const char *text, FILE *stream),
	  (text, stream))
INTERPOSE(RING_OR(SETTLE, kadapt_fputs_unlocked(text, stream)), int, fputs_unlocked,
	  (const char *text, FILE *stream), (text, stream))
INTERPOSE(RING_OR(SETTLE, kadapt_fputc(character, stream)), int, fputc,
	  (int character, FILE *stream), (character, stream))
INTERPOSE(RING_OR(SETTLE, kadapt_fputc_unlocked(character, stream)), int, fputc_unlocked,
	  (int character, FILE *stream), (character, stream))
INTERPOSE(RING_OR(SETTLE, kadapt_putc(character, stream)), int, putc, (int character, FILE *stream),
	  (character, stream))
INTERPOSE(RING_OR(SETTLE, kadapt_putc_unlocked(character, stream)), int, putc_unlocked,
	  (int character, FILE *stream), (character, stream))
INTERPOSE(RING_OR(SETTLE_OUT, kadapt_puts(text)), int, puts, (const char *text), (text))
INTERPOSE(RING_OR(SETTLE_OUT, kadapt_putchar(character)), int, putchar, (int character),
	  (character))
INTERPOSE(RING_OR(SETTLE_OUT, kadapt_putchar_unlocked(character)), int, putchar_unlocked,
	  (int character), (character))
INTERPOSE(RING_OR(SETTLE, kadapt_vfprintf(stream, format, list)), int, vfprintf,
	  (FILE * stream, const char *format, va_list list), (stream, format, list))
INTERPOSE(RING_OR(SETTLE_OUT, kadapt_vprintf(format, list)), int, vprintf,
	  (const char *format, va_list list), (format, list))
INTERPOSE(RING_OR(SETTLE, kadapt___vfprintf_chk(stream, flag, format, list)), int, __vfprintf_chk,
	  (FILE * stream, int flag, const char *format, va_list list), (stream, flag, format, list))
INTERPOSE(RING_OR(SETTLE_OUT, kadapt___vprintf_chk(flag, format, list)), int, __vprintf_chk,
	  (int flag, const char *format, va_list list), (flag, format, list))

/* The function with an ellipsis by the one with a list. */
#define WITH_LIST(call)                                                                            \
	do {                                                                                       \
		va_list list;                                                                      \
		int length;                                                                        \
                                                                                                   \
		va_start(list, format);                                                            \
		length = call;                                                                     \
		va_end(list);                                                                      \
		return length;                                                                     \
	} while (0)

int fprintf(FILE *stream, const char *format, ...)
{
	WITH_LIST(vfprintf(stream, format, list));
}

int printf(const char *format, ...)
{
	WITH_LIST(vfprintf(stdout, format, list));
}

int __fprintf_chk(FILE *stream, int flag, const char *format, ...)
{
	WITH_LIST(__vfprintf_chk(stream, flag, format, list));
}

int __printf_chk(int flag, const char *format, ...)
{
	WITH_LIST(__vfprintf_chk(stdout, flag, format, list));
}

INTERPOSE(SETTLE, int, putw, (int word, FILE *stream), (word, stream))
INTERPOSE(SETTLE, int, __overflow, (FILE * stream, int character), (stream, character))
INTERPOSE(SETTLE, int, setvbuf, (FILE * stream, char *buffer, int mode, size_t size),
	  (stream, buffer, mode, size))
INTERPOSE_VOID(SETTLE, setbuf, (FILE * stream, char *buffer), (stream, buffer))
INTERPOSE_VOID(SETTLE, setbuffer, (FILE * stream, char *buffer, size_t size),
	       (stream, buffer, size))
INTERPOSE_VOID(SETTLE, setlinebuf, (FILE * stream), (stream))
INTERPOSE_VOID(SETTLE, __fpurge, (FILE * stream), (stream))
INTERPOSE_VOID(ALL, _flushlbf, (void), ())

INTERPOSE(LOCATE, int, fseek, (FILE * stream, long offset, int origin), (stream, offset, origin))
INTERPOSE(LOCATE, int, fseeko, (FILE * stream, off_t offset, int origin), (stream, offset, origin))
INTERPOSE(LOCATE, int, fseeko64, (FILE * stream, off64_t offset, int origin),
	  (stream, offset, origin))
INTERPOSE(LOCATE, long, ftell, (FILE * stream), (stream))
INTERPOSE(LOCATE, off_t, ftello, (FILE * stream), (stream))
INTERPOSE(LOCATE, off64_t, ftello64, (FILE * stream), (stream))
INTERPOSE(LOCATE, int, fgetpos, (FILE * stream, fpos_t *position), (stream, position))
INTERPOSE(LOCATE, int, fgetpos64, (FILE * stream, fpos64_t *position), (stream, position))
INTERPOSE(LOCATE, int, fsetpos, (FILE * stream, const fpos_t *position), (stream, position))
INTERPOSE(LOCATE, int, fsetpos64, (FILE * stream, const fpos64_t *position), (stream, position))

void rewind(FILE *stream)
{
	KADAPT_WITH_NEXT(rewind)
	LOCATE;
	kadapt_stream_clear(stream);
	function(stream);
}

int fflush(FILE *stream)
{
	return kadapt_stream_flush(stream, kadapt_next_fflush);
}

int fflush_unlocked(FILE *stream)
{
	return kadapt_stream_flush(stream, kadapt_next_fflush_unlocked);
}

/* An error that was kept is told by the close, which closes all the same. */
#define INTERPOSE_CLOSE(name)                                                                      \
	int name(FILE *stream)                                                                     \
	{                                                                                          \
		KADAPT_WITH_NEXT(name)                                                             \
		int error = kadapt_stream_close(stream);                                           \
		int result = function(stream);                                                     \
                                                                                                   \
		if (!error)                                                                        \
			return result;                                                             \
		errno = error;                                                                     \
		return -1;                                                                         \
	}

INTERPOSE_CLOSE(fclose)
INTERPOSE_CLOSE(pclose)
INTERPOSE(kadapt_release_all(), int, fcloseall, (void), ())
INTERPOSE(kadapt_stream_close(stream), FILE *, freopen,
	  (const char *path, const char *mode, FILE *stream), (path, mode, stream))
INTERPOSE(kadapt_stream_close(stream), FILE *, freopen64,
	  (const char *path, const char *mode, FILE *stream), (path, mode, stream))

int ferror(FILE *stream)
{
	KADAPT_WITH_NEXT(ferror)
	return kadapt_stream_has_failed(stream) || function(stream);
}

int ferror_unlocked(FILE *stream)
{
	KADAPT_WITH_NEXT(ferror_unlocked)
	return kadapt_stream_has_failed(stream) || function(stream);
}

INTERPOSE_VOID(kadapt_stream_clear(stream), clearerr, (FILE * stream), (stream))
INTERPOSE_VOID(kadapt_stream_clear(stream), clearerr_unlocked, (FILE * stream), (stream))

/* Who asks for the number may read by both. */
#define SHARE(name)                                                                                \
	int name(FILE *stream)                                                                     \
	{                                                                                          \
		KADAPT_WITH_NEXT(name)                                                             \
		int d = function(stream);                                                          \
                                                                                                   \
		kadapt_reading_is_streams(d);                                                      \
		return d;                                                                          \
	}

SHARE(fileno)
SHARE(fileno_unlocked)
INTERPOSE(kadapt_reading_is_streams(d), FILE *, fdopen, (int d, const char *mode), (d, mode))

INTERPOSE(ALL, size_t, fread, (void *to, size_t size, size_t count, FILE *stream),
	  (to, size, count, stream))
INTERPOSE(ALL, size_t, fread_unlocked, (void *to, size_t size, size_t count, FILE *stream),
	  (to, size, count, stream))
INTERPOSE(ALL, size_t, __fread_chk,
	  (void *to, size_t room, size_t size, size_t count, FILE *stream),
	  (to, room, size, count, stream))
INTERPOSE(ALL, size_t, __fread_unlocked_chk,
	  (void *to, size_t room, size_t size, size_t count, FILE *stream),
	  (to, room, size, count, stream))
INTERPOSE(ALL, char *, fgets, (char *to, int size, FILE *stream), (to, size, stream))
INTERPOSE(ALL, char *, fgets_unlocked, (char *to, int size, FILE *stream), (to, size, stream))
INTERPOSE(ALL, char *, __fgets_chk, (char *to, size_t room, int size, FILE *stream),
	  (to, room, size, stream))
INTERPOSE(ALL, char *, __fgets_unlocked_chk, (char *to, size_t room, int size, FILE *stream),
	  (to, room, size, stream))
INTERPOSE(ALL, ssize_t, getline, (char **line, size_t *size, FILE *stream), (line, size, stream))
INTERPOSE(ALL, ssize_t, getdelim, (char **line, size_t *size, int end, FILE *stream),
	  (line, size, end, stream))
INTERPOSE(ALL, ssize_t, __getdelim, (char **line, size_t *size, int end, FILE *stream),
	  (line, size, end, stream))

const void *const kadapt_interposed_streams = fread;
