// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What uses or moves a position, after reads without calls: the kernel must have
 * been told of it. The file's records are their own numbers.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "libkadapt.h"
#include "numbers.h"

extern char **environ;

/* Each begins at record BURST. */
static int use_lseek(int file)
{
	return lseek(file, 0, SEEK_CUR) == BURST * NUMBER_BYTES &&
	       lseek(file, NUMBER_BYTES, SEEK_CUR) == (BURST + 1) * NUMBER_BYTES;
}

static int use_read(int file)
{
	uint64_t number;

	return read(file, &number, sizeof(number)) == NUMBER_BYTES && number == BURST;
}

static int use_readv(int file)
{
	uint64_t number;
	struct iovec piece = {.iov_base = &number, .iov_len = sizeof(number)};

	return readv(file, &piece, 1) == NUMBER_BYTES && number == BURST;
}

static int use_sendfile(int file)
{
	uint64_t number;
	int ends[2];

	return pipe(ends) == 0 && sendfile(ends[1], file, NULL, NUMBER_BYTES) == NUMBER_BYTES &&
	       read(ends[0], &number, sizeof(number)) == NUMBER_BYTES && number == BURST;
}

static int use_splice(int file)
{
	uint64_t number;
	int ends[2];

	return pipe(ends) == 0 &&
	       splice(file, NULL, ends[1], NULL, NUMBER_BYTES, 0) == NUMBER_BYTES &&
	       read(ends[0], &number, sizeof(number)) == NUMBER_BYTES && number == BURST;
}

static int use_stream(int file)
{
	FILE *stream = fdopen(dup(file), "r");
	uint64_t number = 0;

	for (size_t i = 0; i < sizeof(number); i++)
		((char *)&number)[i] = (char)getc_unlocked(stream);
	fclose(stream);
	return number == BURST;
}

static int use_bytes_left(int file)
{
	int left = 0;

	return ioctl(file, FIONREAD, &left) == 0 && left == (NUMBERS - BURST) * NUMBER_BYTES;
}

static int use_lock(int file)
{
	struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_CUR, .l_len = 1};
	struct flock found = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int status;

	if (fcntl(file, F_SETLK, &lock))
		return 0;
	/* Only another process sees it. */
	if (fork() == 0)
		_exit(fcntl(file, F_GETLK, &found) || found.l_start != BURST * NUMBER_BYTES);
	wait(&status);
	return status == 0;
}

static int use_copy(int file)
{
	int copy = dup(file);

	return use_lseek(copy) && numbers_read(file, BURST + 1, 2 * BURST) == BURST - 1 &&
	       lseek(copy, 0, SEEK_CUR) == 2 * BURST * NUMBER_BYTES;
}

static int use_passed_on(int file)
{
	char control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec byte = {.iov_base = (char[1]){'x'}, .iov_len = 1};
	struct msghdr message = {.msg_iov = &byte,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = sizeof(control)};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	int pair[2], received;

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &file, sizeof(int));
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || sendmsg(pair[0], &message, 0) != 1 ||
	    recvmsg(pair[1], &message, 0) != 1)
		return 0;
	memcpy(&received, CMSG_DATA(header), sizeof(int));
	return use_copy(received);
}

static int use_child(int file)
{
	pid_t child = fork();

	if (child == 0)
		_exit(!(numbers_read(file, BURST, 2 * BURST) == BURST));
	return child_did(child) && numbers_read(file, 2 * BURST, 3 * BURST) == BURST;
}

/* `head` leaves the position where it has read to. */
static const char *const script =
    "dd bs=8 count=1 status=none <&$1 | od -An -t u8 | { read n; [ \"$n\" = 20 ]; }";

static int use_spawned(int file)
{
	char name[8];
	char *const arguments[] = {"sh", "-c", (char *)script, "sh", name, NULL};
	pid_t child;

	snprintf(name, sizeof(name), "%d", file);
	return posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environ) == 0 &&
	       child_did(child) && numbers_read(file, BURST + 1, 2 * BURST) == BURST - 1;
}

/* The child has an open file of its own, and reads without calls before. */
static int executed(int how)
{
	char name[8];
	char *const arguments[] = {"sh", "-c", (char *)script, "sh", name, NULL};
	int file = numbers_open(NUMBERS);

	if (numbers_read(file, 0, BURST) != BURST || kernels_position(file) >= BURST * NUMBER_BYTES)
		return 1;
	snprintf(name, sizeof(name), "%d", file);
	switch (how) {
	case 0:
		return execv("/bin/sh", arguments);
	case 1:
		return execl("/bin/sh", "sh", "-c", script, "sh", name, NULL);
	case 2:
		return execlp("sh", "sh", "-c", script, "sh", name, NULL);
	case 3:
		return execle("/bin/sh", "sh", "-c", script, "sh", name, NULL, environ);
	case 4:
		return execvp("sh", arguments);
	case 5:
		return execvpe("sh", arguments, environ);
	case 6:
		return fexecve(open("/bin/sh", O_RDONLY), arguments, environ);
	default:
		return execve("/bin/sh", arguments, environ);
	}
}

static enum outcome test_exec(void)
{
	for (int how = 0; how < 8; how++) {
		pid_t child = fork();

		if (child == 0)
			_exit(executed(how) ? 1 : 2);
		CHECK_FOR(child_did(child), how);
	}
	return PASSED;
}

/* The same if it fails, and the program goes on. */
static int use_failed_exec(int file)
{
	return execl("/nowhere", "nowhere", NULL) == -1 && use_lseek(file);
}

static const struct {
	const char *name;
	int (*use)(int file);
} uses[] = {
    {"lseek", use_lseek},	{"read", use_read},	{"readv", use_readv},
    {"sendfile", use_sendfile}, {"splice", use_splice}, {"fdopen", use_stream},
    {"ioctl", use_bytes_left},	{"fcntl", use_lock},	{"dup", use_copy},
    {"sendmsg", use_passed_on}, {"fork", use_child},	{"posix_spawn", use_spawned},
    {"exec", use_failed_exec},
};

static enum outcome test_uses(void)
{
	for (size_t i = 0; i < sizeof(uses) / sizeof(*uses); i++) {
		int file = numbers_open(NUMBERS);

		CHECK_FOR(numbers_read(file, 0, BURST) == BURST, i);
		CHECK_FOR(kernels_position(file) < BURST * NUMBER_BYTES, i);
		CHECK_FOR(uses[i].use(file), i);
		close(file);
	}
	return PASSED;
}

const struct test_case read_use_cases[] = {
    {"read_uses", "calls of the C library", test_uses},
    {"read_exec", "another program", test_exec},
    {0},
};
