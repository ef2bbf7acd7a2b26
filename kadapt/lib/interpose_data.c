// SPDX-License-Identifier: MIT
/* Interposed: calls that move data through a descriptor. */
#define _GNU_SOURCE
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <fcntl.h>
#include <unistd.h>

#include "interpose.h"
#include "libkadapt.h"
#include "next.h"

/* Of programs that were compiled with _FORTIFY_SOURCE. */
ssize_t __read_chk(int, void *, size_t, size_t);
ssize_t __pread_chk(int, void *, size_t, off_t, size_t);
ssize_t __pread64_chk(int, void *, size_t, off64_t, size_t);
ssize_t __recv_chk(int, void *, size_t, size_t, int);
ssize_t __recvfrom_chk(int, void *, size_t, size_t, int, struct sockaddr *, socklen_t *);
int __vdprintf_chk(int, int, const char *, va_list);
int __dprintf_chk(int, int, const char *, ...);

#define READ kadapt_before_read(d)
#define SETTLE kadapt_settle_one(d)
#define WRITE                                                                                      \
	do {                                                                                       \
		if (kadapt_before_write(d, 0))                                                     \
			return -1;                                                                 \
	} while (0)

INTERPOSE_OFTEN(READ, ssize_t, read, (int d, void *to, size_t size), (d, to, size))
INTERPOSE_OFTEN(READ, ssize_t, readv, (int d, const struct iovec *to, int count), (d, to, count))
INTERPOSE_OFTEN(READ, ssize_t, recv, (int d, void *to, size_t size, int flags),
		(d, to, size, flags))
INTERPOSE_OFTEN(READ, ssize_t, recvfrom,
		(int d, void *to, size_t size, int flags, struct sockaddr *from, socklen_t *length),
		(d, to, size, flags, from, length))
INTERPOSE_OFTEN(READ, ssize_t, recvmsg, (int d, struct msghdr *message, int flags),
		(d, message, flags))
INTERPOSE(READ, int, recvmmsg,
	  (int d, struct mmsghdr *messages, unsigned int count, int flags,
	   struct timespec *timeout),
	  (d, messages, count, flags, timeout))
INTERPOSE_OFTEN(READ, ssize_t, __read_chk, (int d, void *to, size_t size, size_t room),
		(d, to, size, room))
INTERPOSE_OFTEN(READ, ssize_t, __recv_chk, (int d, void *to, size_t size, size_t room, int flags),
		(d, to, size, room, flags))
INTERPOSE_OFTEN(READ, ssize_t, __recvfrom_chk,
		(int d, void *to, size_t size, size_t room, int flags, struct sockaddr *from,
		 socklen_t *length),
		(d, to, size, room, flags, from, length))
INTERPOSE(READ, int, eventfd_read, (int d, eventfd_t *value), (d, value))
INTERPOSE(READ, int, accept, (int d, struct sockaddr *from, socklen_t *length), (d, from, length))
INTERPOSE(READ, int, accept4, (int d, struct sockaddr *from, socklen_t *length, int flags),
	  (d, from, length, flags))
INTERPOSE(READ, int, connect, (int d, const struct sockaddr *to, socklen_t length), (d, to, length))

INTERPOSE_OFTEN(SETTLE, ssize_t, pread, (int d, void *to, size_t size, off_t offset),
		(d, to, size, offset))
INTERPOSE_OFTEN(SETTLE, ssize_t, pread64, (int d, void *to, size_t size, off64_t offset),
		(d, to, size, offset))
INTERPOSE(SETTLE, ssize_t, preadv, (int d, const struct iovec *to, int count, off_t offset),
	  (d, to, count, offset))
INTERPOSE(SETTLE, ssize_t, preadv64, (int d, const struct iovec *to, int count, off64_t offset),
	  (d, to, count, offset))
INTERPOSE(SETTLE, ssize_t, preadv2,
	  (int d, const struct iovec *to, int count, off_t offset, int flags),
	  (d, to, count, offset, flags))
INTERPOSE(SETTLE, ssize_t, preadv64v2,
	  (int d, const struct iovec *to, int count, off64_t offset, int flags),
	  (d, to, count, offset, flags))
INTERPOSE_OFTEN(SETTLE, ssize_t, __pread_chk,
		(int d, void *to, size_t size, off_t offset, size_t room),
		(d, to, size, offset, room))
INTERPOSE_OFTEN(SETTLE, ssize_t, __pread64_chk,
		(int d, void *to, size_t size, off64_t offset, size_t room),
		(d, to, size, offset, room))

/* What shared libraries write goes the same way, if the plan says so. */
#define RING_OR_WRITE(call)                                                                        \
	do {                                                                                       \
		if (kadapt_has_stream_rings)                                                       \
			return call;                                                               \
		WRITE;                                                                             \
	} while (0)

INTERPOSE(RING_OR_WRITE(kadapt_write(d, from, size)), ssize_t, write,
	  (int d, const void *from, size_t size), (d, from, size))
INTERPOSE(RING_OR_WRITE(kadapt_pwrite(d, from, size, offset)), ssize_t, pwrite,
	  (int d, const void *from, size_t size, off_t offset), (d, from, size, offset))
INTERPOSE(RING_OR_WRITE(kadapt_pwrite(d, from, size, offset)), ssize_t, pwrite64,
	  (int d, const void *from, size_t size, off64_t offset), (d, from, size, offset))
INTERPOSE(RING_OR_WRITE(kadapt_writev(d, from, count)), ssize_t, writev,
	  (int d, const struct iovec *from, int count), (d, from, count))
INTERPOSE(RING_OR_WRITE(kadapt_send(d, from, size, flags)), ssize_t, send,
	  (int d, const void *from, size_t size, int flags), (d, from, size, flags))
INTERPOSE(RING_OR_WRITE(kadapt_sendto(d, from, size, flags, to, length)), ssize_t, sendto,
	  (int d, const void *from, size_t size, int flags, const struct sockaddr *to,
	   socklen_t length),
	  (d, from, size, flags, to, length))

INTERPOSE(WRITE, ssize_t, pwritev, (int d, const struct iovec *from, int count, off_t offset),
	  (d, from, count, offset))
INTERPOSE(WRITE, ssize_t, pwritev64, (int d, const struct iovec *from, int count, off64_t offset),
	  (d, from, count, offset))
INTERPOSE(WRITE, ssize_t, pwritev2,
	  (int d, const struct iovec *from, int count, off_t offset, int flags),
	  (d, from, count, offset, flags))
INTERPOSE(WRITE, ssize_t, pwritev64v2,
	  (int d, const struct iovec *from, int count, off64_t offset, int flags),
	  (d, from, count, offset, flags))
INTERPOSE(WRITE, int, eventfd_write, (int d, eventfd_t value), (d, value))
INTERPOSE(WRITE, int, vdprintf, (int d, const char *format, va_list list), (d, format, list))
INTERPOSE(WRITE, int, __vdprintf_chk, (int d, int flag, const char *format, va_list list),
	  (d, flag, format, list))

int dprintf(int d, const char *format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vdprintf(d, format, arguments);
	va_end(arguments);
	return length;
}

int __dprintf_chk(int d, int flag, const char *format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = __vdprintf_chk(d, flag, format, arguments);
	va_end(arguments);
	return length;
}

/* A message with control data may pass descriptors on, to where nobody asks us. */
static void before_messages(const struct mmsghdr *messages, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		if (messages[i].msg_hdr.msg_controllen)
			kadapt_release_all();
}

static void before_message(const struct msghdr *message)
{
	if (message->msg_controllen)
		kadapt_release_all();
}

INTERPOSE(before_message(message); WRITE, ssize_t, sendmsg,
				   (int d, const struct msghdr *message, int flags),
				   (d, message, flags))
INTERPOSE(before_messages(messages, count);
	  WRITE, int, sendmmsg, (int d, struct mmsghdr *messages, unsigned int count, int flags),
	  (d, messages, count, flags))

/* From one descriptor to another. */
#define TRANSFER                                                                                   \
	do {                                                                                       \
		kadapt_settle_one(from);                                                           \
		if (kadapt_before_write(to, 0))                                                    \
			return -1;                                                                 \
	} while (0)

INTERPOSE(TRANSFER, ssize_t, sendfile, (int to, int from, off_t *offset, size_t size),
	  (to, from, offset, size))
INTERPOSE(TRANSFER, ssize_t, sendfile64, (int to, int from, off64_t *offset, size_t size),
	  (to, from, offset, size))
INTERPOSE(TRANSFER, ssize_t, splice,
	  (int from, off64_t *at, int to, off64_t *offset, size_t size, unsigned int flags),
	  (from, at, to, offset, size, flags))
INTERPOSE(TRANSFER, ssize_t, tee, (int from, int to, size_t size, unsigned int flags),
	  (from, to, size, flags))
INTERPOSE(TRANSFER, ssize_t, copy_file_range,
	  (int from, off64_t *at, int to, off64_t *offset, size_t size, unsigned int flags),
	  (from, at, to, offset, size, flags))
INTERPOSE(WRITE, ssize_t, vmsplice,
	  (int d, const struct iovec *from, size_t count, unsigned int flags),
	  (d, from, count, flags))

const void *const kadapt_interposed_data = read;
