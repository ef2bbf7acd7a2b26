/* SPDX-License-Identifier: MIT */
/*
 * The C library's own functions, past those that this library interposes. In a
 * static program, where nothing is interposed, they are what their names say.
 */
#ifndef LIBKADAPT_NEXT_H
#define LIBKADAPT_NEXT_H

#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "device_file.h"

/* (type, name, parameters, arguments) */
#define KADAPT_NEXT_FUNCTIONS(FUNCTION)                                                            \
	FUNCTION(ssize_t, write, (int descriptor, const void *record, size_t size),                \
		 (descriptor, record, size))                                                       \
	FUNCTION(ssize_t, pwrite, (int descriptor, const void *record, size_t size, off_t offset), \
		 (descriptor, record, size, offset))                                               \
	FUNCTION(ssize_t, writev, (int descriptor, const struct iovec *pieces, int count),         \
		 (descriptor, pieces, count))                                                      \
	FUNCTION(ssize_t, send, (int descriptor, const void *record, size_t size, int flags),      \
		 (descriptor, record, size, flags))                                                \
	FUNCTION(ssize_t, sendto,                                                                  \
		 (int descriptor, const void *record, size_t size, int flags,                      \
		  const struct sockaddr *address, socklen_t address_size),                         \
		 (descriptor, record, size, flags, address, address_size))                         \
	FUNCTION(ssize_t, read, (int descriptor, void *buffer, size_t size),                       \
		 (descriptor, buffer, size))                                                       \
	FUNCTION(size_t, fwrite, (const void *records, size_t size, size_t count, FILE *stream),   \
		 (records, size, count, stream))                                                   \
	FUNCTION(size_t, fwrite_unlocked,                                                          \
		 (const void *records, size_t size, size_t count, FILE *stream),                   \
		 (records, size, count, stream))                                                   \
	FUNCTION(int, fputs, (const char *text, FILE *stream), (text, stream))                     \
	FUNCTION(int, fputs_unlocked, (const char *text, FILE *stream), (text, stream))            \
	FUNCTION(int, puts, (const char *text), (text))                                            \
	FUNCTION(int, fputc, (int character, FILE *stream), (character, stream))                   \
	FUNCTION(int, fputc_unlocked, (int character, FILE *stream), (character, stream))          \
	FUNCTION(int, fflush, (FILE * stream), (stream))                                           \
	FUNCTION(int, fflush_unlocked, (FILE * stream), (stream))                                  \
	FUNCTION(int, fseeko, (FILE * stream, off_t offset, int origin), (stream, offset, origin)) \
	FUNCTION(int, vfprintf, (FILE * stream, const char *format, va_list arguments),            \
		 (stream, format, arguments))                                                      \
	FUNCTION(int, __vfprintf_chk,                                                              \
		 (FILE * stream, int flag, const char *format, va_list arguments),                 \
		 (stream, flag, format, arguments))

#define KADAPT_DECLARE_NEXT(type, name, parameters, arguments)                                     \
	KADAPT_HIDDEN type kadapt_next_##name parameters;
KADAPT_NEXT_FUNCTIONS(KADAPT_DECLARE_NEXT)
#undef KADAPT_DECLARE_NEXT

/* Declared by <stdio.h> only for programs that are fortified. */
int __vfprintf_chk(FILE *stream, int flag, const char *format, va_list arguments);
int __vsnprintf_chk(char *text, size_t room, int flag, size_t size, const char *format,
		    va_list arguments);

/* Whether everybody's calls in this process reach the interposed functions. */
KADAPT_HIDDEN int kadapt_is_interposed(void);

#endif
