// SPDX-License-Identifier: GPL-2.0-or-later
/* A descriptor that reads a file, which others write to now and then. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mix.h"
#include "redirected.h"

#define FILE_BYTES 200000

static char path[64];
static int descriptor;

/* What was read, and how much. */
static void tell_read(const char *what, const void *text, ssize_t size)
{
	tell(what, size);
	if (size > 0)
		tell("hash", (long)(hash(0, text, (size_t)size) >> 1));
}

static void read_one(void)
{
	static char text[BYTES_MAX];

	tell_read("read", text, read(descriptor, text, any(300)));
}

static void read_large(void)
{
	static char text[BYTES_MAX];

	tell_read("read", text, read(descriptor, text, any(BYTES_MAX)));
}

static void read_burst(void)
{
	char text[2100];
	uint32_t size = 1 + any(any(2) ? 64 : sizeof(text) - 1);
	uint64_t sum = 0;
	long total = 0;

	for (uint32_t i = any(300); i; i--) {
		ssize_t got = read(descriptor, text, size);

		sum = hash(sum, text, got > 0 ? (size_t)got : 0);
		total += got;
	}
	tell("burst", total);
	tell("hash", (long)(sum >> 1));
}

static void read_pieces(void)
{
	char text[3][50];
	struct iovec pieces[3];

	for (int i = 0; i < 3; i++)
		pieces[i] = (struct iovec){.iov_base = text[i], .iov_len = any(50)};
	tell("readv", readv(descriptor, pieces, 3));
}

static void read_at(void)
{
	char text[500];

	tell_read("pread", text, pread(descriptor, text, any(sizeof(text)), any(FILE_BYTES)));
}

static void seek(void)
{
	static const int origins[] = {SEEK_SET, SEEK_SET, SEEK_CUR, SEEK_END};
	int origin = origins[any(4)];
	long offset = any(FILE_BYTES);

	tell("lseek", lseek(descriptor, origin == SEEK_SET ? offset : -offset / 3, origin));
}

static void where(void)
{
	tell("where", lseek(descriptor, 0, SEEK_CUR));
}

static void look_at_memory(void)
{
	struct stat status;
	void *text;

	fstat(descriptor, &status);
	if (!status.st_size)
		return;
	text = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, descriptor, 0);
	tell("mmap", (long)(hash(0, text, (size_t)status.st_size) >> 1));
	munmap(text, (size_t)status.st_size);
}

static void change(int file)
{
	uint32_t size = any(BYTES_MAX);

	tell("pwrite", pwrite(file, bytes(size), size, any(FILE_BYTES)));
	if (!any(4))
		tell("ftruncate", ftruncate(file, any(FILE_BYTES)));
}

static void write_beside(void)
{
	int file = open(path, O_WRONLY);

	change(file);
	if (any(2))
		read_burst();
	change(file);
	close(file);
}

static void write_in_child(void)
{
	pid_t child = fork();

	if (child == 0) {
		int file = open(path, O_WRONLY);

		change(file);
		_exit(0);
	}
	/* It tells first. */
	waitpid(child, NULL, 0);
}

static void read_in_child(void)
{
	pid_t child = fork();

	if (child == 0) {
		read_burst();
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static void read_in_program(void)
{
	char command[64];

	snprintf(command, sizeof(command), "head -c %u <&%d | cksum", any(2000), descriptor);
	fflush(stdout);
	tell("system", system(command));
}

static void read_as_stream(void)
{
	FILE *stream = fdopen(dup(descriptor), "r");
	uint64_t sum = 0;

	for (uint32_t i = any(100); i; i--)
		sum = sum * 31 + (uint64_t)fgetc(stream);
	tell("getc", (long)(sum >> 1));
	fclose(stream);
}

static void copy_out(void)
{
	char text[300];
	int ends[2];

	if (pipe(ends))
		return;
	tell("sendfile", sendfile(ends[1], descriptor, NULL, any(sizeof(text))));
	close(ends[1]);
	tell_read("sent", text, read(ends[0], text, sizeof(text)));
	close(ends[0]);
}

static void duplicate(void)
{
	int copy = dup(descriptor);
	char text[40];

	read_burst();
	tell_read("copy", text, read(copy, text, sizeof(text)));
	read_burst();
	close(copy);
}

static void open_again(void)
{
	tell("close", close(descriptor));
	descriptor = open(path, any(4) ? O_RDONLY : O_RDWR);
}

static volatile int handled;

static void read_in_handler(int number)
{
	char byte;

	(void)number;
	handled += read(descriptor, &byte, 1) == 1;
}

static void signal_oneself(void)
{
	handled = 0;
	signal(SIGUSR1, read_in_handler);
	read_one();
	raise(SIGUSR1);
	read_burst();
	tell("handled", handled);
}

static void (*const operations[])(void) = {
    read_one,	   read_one,	   read_one,	    read_burst,	  read_burst,
    read_burst,	   read_burst,	   read_burst,	    read_burst,	  read_burst,
    read_large,	   read_pieces,	   read_at,	    seek,	  seek,
    seek,	   where,	   look_at_memory,  write_beside, write_in_child,
    read_in_child, read_as_stream, copy_out,	    duplicate,	  open_again,
    yield,	   signal_oneself, read_in_program,
};

#define OPERATIONS ((uint32_t)(sizeof(operations) / sizeof(*operations)))

static int fill(void)
{
	int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	for (uint32_t done = 0; done < FILE_BYTES; done += 1000) {
		any(2);
		if (write(file, bytes(1000), 1000) != 1000)
			return -1;
	}
	return close(file);
}

int mix_reading(int count)
{
	const char *folder = getenv("MIX_FOLDER");

	snprintf(path, sizeof(path), "%s/kadapt-mix-%d", folder ? folder : "/tmp", getpid());
	if (fill())
		return 1;
	descriptor = open(path, O_RDONLY);
	while (count--)
		operations[any(OPERATIONS)]();
	close(descriptor);
	unlink(path);
	return 0;
}
