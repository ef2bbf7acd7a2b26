// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "place.h"

/* For a socket: the kernel also counts its own data for each record, up to a KiB. */
#define SOCKET_BYTES (16 << 20)
#define PIPE_BYTES (1 << 20)

struct place place = {.in = -1, .out = -1};
char records[RECORDS_PER_CALL][LARGEST_RECORD];

static char delivered[RECORDS_PER_ROUND * LARGEST_RECORD];

/* Finds a mounted tmpfs for a file with a name, as programs use. */
static const char *tmpfs_directory(void)
{
	static const char *const known[] = {"/dev/shm", "/", "/dev"};
	struct statfs about;

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (statfs(known[i], &about) == 0 && about.f_type == TMPFS_MAGIC)
			return known[i];
	errno = ENODEV;
	return NULL;
}

static const char *directory_of(enum place_kind kind)
{
	if (kind == PLACE_EXT4)
		return disk_directory();
	return setting.sink ? setting.sink : tmpfs_directory();
}

static char path[PATH_MAX];

static int open_file(enum place_kind kind)
{
	const char *directory = directory_of(kind);

	if (!directory)
		return -errno;
	snprintf(path, sizeof(path), "%s/kadence-lab-%d", directory, getpid());
	place.in = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	place.out = place.in;
	return place.in < 0 ? -errno : 0;
}

static int open_pipe(void)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	place.out = ends[0];
	place.in = ends[1];
	return fcntl(place.in, F_SETPIPE_SZ, PIPE_BYTES) < 0 ? -errno : 0;
}

static int open_socket(enum place_kind kind)
{
	int bytes = SOCKET_BYTES;
	int ends[2];
	int error = kind == PLACE_TCP ? connect_over_tcp(ends)
		    : socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) ? -errno
									       : 0;

	if (error)
		return error;
	place.in = ends[0];
	place.out = ends[1];
	if (setsockopt(place.in, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes)) ||
	    setsockopt(place.out, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)))
		return -errno;
	return 0;
}

static void fill_records(void)
{
	for (int i = 0; i < RECORDS_PER_CALL; i++)
		memset(records[i], 'a' + i % 26, LARGEST_RECORD);
}

int place_open(long argument)
{
	place = (struct place){
	    .kind = PLACE_OF(argument), .in = -1, .out = -1, .size = SIZE_OF(argument)};
	fill_records();
	switch (place.kind) {
	case PLACE_FILE:
	case PLACE_EXT4:
		return open_file(place.kind);
	case PLACE_PIPE:
		return open_pipe();
	default:
		return open_socket(place.kind);
	}
}

static int is_file(void)
{
	return place.in == place.out;
}

int place_rewind(long unused)
{
	(void)unused;
	place.under_way = 0;
	place.received = 0;
	place.burst = is_file() ? LONG_MAX : BURST_BYTES;
	if (is_file() && (ftruncate(place.in, 0) || lseek(place.in, 0, SEEK_SET)))
		return -errno;
	return 0;
}

int place_burst(void)
{
	while (place.under_way > 0) {
		ssize_t got = read(place.out, delivered + place.received, place.under_way);

		if (got <= 0)
			return got ? -errno : -EPIPE;
		place.under_way -= got;
		place.received += got;
	}
	return 0;
}

/* Asking for a file's position drains its ring. */
int place_settle(void)
{
	if (!is_file())
		return place_burst();
	return lseek(place.in, 0, SEEK_CUR) < 0 ? -errno : 0;
}

static int read_file(long bytes)
{
	for (long done = 0; done < bytes;) {
		ssize_t got = pread(place.out, delivered + done, bytes - done, done);

		if (got <= 0)
			return got ? -errno : -EIO;
		done += got;
	}
	place.received = bytes;
	return lseek(place.out, 0, SEEK_END) == bytes ? 0 : -EIO;
}

int place_verify(long unused, long count)
{
	int error = is_file() ? read_file(count * place.size) : 0;

	(void)unused;
	if (!error && place.received != count * place.size)
		error = -EIO;
	for (long i = 0; !error && i < count; i++)
		if (memcmp(delivered + i * place.size, record_of(i), place.size))
			error = -EILSEQ;
	memset(delivered, 0, count * place.size);
	return error;
}

void place_close(void)
{
	if (place.in >= 0)
		close(place.in);
	if (place.out >= 0 && place.out != place.in)
		close(place.out);
	if (*path)
		unlink(path);
	*path = '\0';
	place.in = -1;
	place.out = -1;
}
