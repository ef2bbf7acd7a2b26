// SPDX-License-Identifier: GPL-2.0-or-later
/* Costs of system calls. Files are in the current directory. */

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "costs.h"

#define RECORD 64

#define MOST_WRITTEN (16L << 20) /* bytes; then the file is emptied */

long charge_call(long count)
{
	for (long i = 0; i < count; i++)
		syscall(SYS_getppid);
	return count;
}

/* By the C library, which makes no system call if the kernel has a vDSO. */
long charge_clock(long count)
{
	struct timespec time;

	for (long i = 0; i < count; i++)
		clock_gettime(CLOCK_REALTIME, &time);
	return count;
}

/* Includes the matching close(). */
long charge_open(long count)
{
	for (long i = 0; i < count; i++) {
		int file = open(COLD_FILE, O_RDONLY | O_CLOEXEC);

		if (file < 0 || close(file))
			return -1;
	}
	return count;
}

long charge_look(long count)
{
	struct stat found;

	for (long i = 0; i < count; i++)
		if (stat(COLD_FILE, &found))
			return -1;
	return count;
}

/* The files stay open between batches: otherwise a short batch would measure their opening. */
static int opened(const char *name, int flags)
{
	int file = open(name, flags | O_CLOEXEC, 0600);

	if (file >= 0 && (flags & O_CREAT))
		unlink(name);
	return file;
}

/* Appends to a file, as programs do that write results: the kernel makes a page for each. */
static long write_pieces(long count, size_t bytes)
{
	static const char piece[PAGE];
	static long written;
	static int file = -1;

	if (file < 0)
		file = opened("written", O_WRONLY | O_CREAT | O_TRUNC);
	for (long i = 0; i < count; i++) {
		if (write(file, piece, bytes) != (ssize_t)bytes)
			return -1;
		written += (long)bytes;
		if (written >= MOST_WRITTEN) {
			if (ftruncate(file, 0))
				return -1;
			written = lseek(file, 0, SEEK_SET);
		}
	}
	return count;
}

long charge_write(long count)
{
	return write_pieces(count, RECORD);
}

long charge_written_page(long count)
{
	return write_pieces(count, PAGE);
}

static int cold = -1;

long charge_read(long count)
{
	char piece[RECORD];

	if (cold < 0)
		cold = opened(COLD_FILE, O_RDONLY);
	for (long i = 0; i < count; i++)
		if (pread(cold, piece, RECORD, 0) != RECORD)
			return -1;
	return count;
}

/* Reads each page once, from a file that is not in this kernel's memory yet. */
long charge_read_page(long count)
{
	static char piece[PAGE];
	static off_t offset;

	if (cold < 0)
		cold = opened(COLD_FILE, O_RDONLY);
	for (long i = 0; i < count; i++, offset += PAGE)
		if (pread(cold, piece, PAGE, offset) != PAGE)
			return -1;
	return count;
}

/* Writes a record and reads it back: two calls. */
static long pass(long count, const int *ends)
{
	char piece[RECORD] = "";

	for (long i = 0; i < count; i += 2)
		if (write(ends[1], piece, RECORD) != RECORD ||
		    read(ends[0], piece, RECORD) != RECORD)
			return -1;
	return (count + 1) / 2 * 2;
}

long charge_pipe(long count)
{
	static int ends[2] = {-1, -1};

	if (ends[0] < 0 && pipe(ends))
		return -1;
	return pass(count, ends);
}

long charge_socket(long count)
{
	static int ends[2] = {-1, -1};

	if (ends[0] < 0 && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -1;
	return pass(count, ends);
}
