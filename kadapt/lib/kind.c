// SPDX-License-Identifier: MIT
/* What descriptors refer to, and which refer to the same. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "io.h"

static enum kadapt_kind ask_kind(int descriptor)
{
	struct statx answer;

	if (syscall(SYS_statx, descriptor, "", AT_EMPTY_PATH, STATX_TYPE, &answer))
		return KADAPT_KIND_UNKNOWN;
	switch (answer.stx_mode & S_IFMT) {
	case S_IFREG:
		return KADAPT_KIND_FILE;
	case S_IFIFO:
		return KADAPT_KIND_PIPE;
	case S_IFSOCK:
		return KADAPT_KIND_SOCKET;
	default:
		return KADAPT_KIND_OTHER;
	}
}

enum kadapt_kind kadapt_kind_of(int descriptor)
{
	/* Kept where close() is seen. */
	struct kadapt_channel *channel = kadapt_has_rings ? kadapt_channel_of(descriptor) : NULL;
	int saved_errno = errno;
	enum kadapt_kind kind;

	if (channel && channel->kind)
		return (enum kadapt_kind)channel->kind;
	kind = ask_kind(descriptor);
	if (channel)
		channel->kind = (uint8_t)kind;
	errno = saved_errno;
	return kind;
}

/* 0: no socket. */
static uint64_t socket_number(int descriptor)
{
	struct statx answer;

	if (syscall(SYS_statx, descriptor, "", AT_EMPTY_PATH, STATX_TYPE | STATX_INO, &answer))
		return 0;
	return S_ISSOCK(answer.stx_mode) ? answer.stx_ino : 0;
}

static void mark(int descriptor)
{
	if (kadapt_has_channel(descriptor))
		kadapt_channels[descriptor].is_copied = 1;
}

int kadapt_note_copy(int descriptor, int copy)
{
	if (!kadapt_has_rings || copy < 0 || copy == descriptor)
		return copy;
	if (kadapt_kind_of(descriptor) == KADAPT_KIND_SOCKET) {
		mark(descriptor);
		mark(copy);
	}
	return copy;
}

/* Whoever started the program may have given it one socket under several numbers. */
#define INHERITED 16

void kadapt_note_inherited_copies(void)
{
	int saved_errno = errno;
	uint64_t sockets[INHERITED];

	for (int i = 0; i < INHERITED; i++) {
		sockets[i] = socket_number(i);
		for (int other = 0; sockets[i] && other < i; other++)
			if (sockets[other] == sockets[i]) {
				mark(i);
				mark(other);
			}
	}
	errno = saved_errno;
}

int kadapt_has_copy(struct kadapt_channel *channel)
{
	int saved_errno = errno;
	uint64_t socket;

	if (!channel->is_copied)
		return 0;
	socket = socket_number(kadapt_descriptor_of(channel));
	channel->is_copied = 0;
	for (int i = 0; socket && i < KADAPT_CHANNELS && !channel->is_copied; i++)
		if (kadapt_channels[i].is_copied && socket_number(i) == socket)
			channel->is_copied = 1;
	errno = saved_errno;
	return channel->is_copied;
}
