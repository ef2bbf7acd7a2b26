// SPDX-License-Identifier: MIT
/* Which files show no difference between one large write and several small ones. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "calls/batch.h"

#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif

/* On these file systems a regular file is only its bytes. Others may act on writes. */
static const long plain_file_systems[] = {
    EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC,	BTRFS_SUPER_MAGIC, TMPFS_MAGIC,
    RAMFS_MAGIC,      F2FS_SUPER_MAGIC, NFS_SUPER_MAGIC,   OVERLAYFS_SUPER_MAGIC,
};

static int is_on_plain_file_system(int descriptor)
{
	struct statfs answer;

	if (syscall(SYS_fstatfs, descriptor, &answer))
		return 0;
	for (size_t i = 0; i < sizeof(plain_file_systems) / sizeof(*plain_file_systems); i++)
		if (answer.f_type == plain_file_systems[i])
			return 1;
	return 0;
}

static int socket_option(int descriptor, int option)
{
	int value = -1;
	socklen_t size = sizeof(value);

	if (syscall(SYS_getsockopt, descriptor, SOL_SOCKET, option, &value, &size))
		return -1;
	return value;
}

/* A UNIX socket accepts or refuses a small piece as a whole, TCP also a part of one. */
static enum kadapt_grouping grouping_of_socket(int descriptor)
{
	if (socket_option(descriptor, SO_TYPE) != SOCK_STREAM)
		return KADAPT_GROUP_NOTHING;
	if (socket_option(descriptor, SO_DOMAIN) == AF_UNIX)
		return KADAPT_GROUP_SINGLE;
	return socket_option(descriptor, SO_PROTOCOL) == IPPROTO_TCP ? KADAPT_GROUP_ALL
								     : KADAPT_GROUP_NOTHING;
}

/* In a pipe with O_DIRECT each write is a packet. */
static int is_packet_pipe(int descriptor)
{
	return syscall(SYS_fcntl, descriptor, F_GETFL) & O_DIRECT;
}

/* The type of the file, as in st_mode; 0 on error. */
static unsigned int type_of(int descriptor)
{
	struct statx answer;

	if (syscall(SYS_statx, descriptor, "", AT_EMPTY_PATH, STATX_TYPE, &answer))
		return 0;
	return answer.stx_mode & S_IFMT;
}

static enum kadapt_grouping grouping_of(int descriptor, unsigned int type)
{
	switch (type) {
	case S_IFSOCK:
		return grouping_of_socket(descriptor);
	case S_IFIFO:
		return is_packet_pipe(descriptor) ? KADAPT_GROUP_NOTHING : KADAPT_GROUP_ATOMIC;
	case S_IFREG:
		return is_on_plain_file_system(descriptor) ? KADAPT_GROUP_ALL
							   : KADAPT_GROUP_NOTHING;
	default:
		return KADAPT_GROUP_NOTHING;
	}
}

enum kadapt_grouping kadapt_grouping_of(int descriptor, int is_send)
{
	int saved_errno = errno;
	unsigned int type = type_of(descriptor);
	enum kadapt_grouping grouping = KADAPT_GROUP_NOTHING;

	/* If the file is not a socket, each send(2) fails as the first does. */
	if (!is_send || type == S_IFSOCK)
		grouping = grouping_of(descriptor, type);
	errno = saved_errno;
	return grouping;
}
