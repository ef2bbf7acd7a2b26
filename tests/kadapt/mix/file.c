// SPDX-License-Identifier: GPL-2.0-or-later
/* Operations on a descriptor of one file and on a stream of another. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mix.h"
#include "redirected.h"

static char path[64], stream_path[64];
static int descriptor;
static FILE *stream;

static void write_one(void)
{
	uint32_t size = any(200);

	tell("write", write(descriptor, bytes(size), size));
}

static void write_large(void)
{
	uint32_t size = any(BYTES_MAX);

	tell("write", write(descriptor, bytes(size), size));
}

static void write_burst(void)
{
	uint32_t records = any(300), size = 1 + any(64);
	long total = 0;

	while (records--)
		total += write(descriptor, bytes(size), size);
	tell("burst", total);
}

static void write_pieces(void)
{
	struct iovec pieces[3];

	for (int i = 0; i < 3; i++)
		pieces[i] = (struct iovec){.iov_base = (void *)bytes(50), .iov_len = any(50)};
	tell("writev", writev(descriptor, pieces, 3));
}

static void write_at(void)
{
	uint32_t offset = any(100000), size = 1 + any(100);
	long total = 0;

	for (uint32_t i = any(20); i; i--, offset += size)
		total += pwrite(descriptor, bytes(size), size, offset);
	tell("pwrite", total);
}

static void seek(void)
{
	tell("lseek", lseek(descriptor, any(100000), SEEK_SET));
}

static void where(void)
{
	tell("where", lseek(descriptor, 0, SEEK_CUR));
}

static void look(void)
{
	static char text[BYTES_MAX];
	ssize_t size = pread(descriptor, text, any(BYTES_MAX), any(100000));

	tell("pread", (long)hash((uint64_t)size, text, (size_t)size) >> 1);
}

static void look_from_outside(void)
{
	static char text[BYTES_MAX];
	int other = open(path, O_RDONLY);
	ssize_t size = read(other, text, sizeof(text));

	close(other);
	tell("read", (long)hash((uint64_t)size, text, (size_t)size) >> 1);
}

static void look_at_memory(void)
{
	struct stat status;
	void *text;

	fstat(descriptor, &status);
	tell("fstat", status.st_size);
	if (!status.st_size)
		return;
	text = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, descriptor, 0);
	tell("mmap", (long)hash(0, text, (size_t)status.st_size) >> 1);
	munmap(text, (size_t)status.st_size);
}

static void look_at_size(void)
{
	struct stat status;

	stat(path, &status);
	tell("stat", status.st_size);
}

static void cut(void)
{
	tell("ftruncate", ftruncate(descriptor, any(100000)));
}

static void write_in_child(void)
{
	if (fork() == 0) {
		write_burst();
		_exit(0);
	}
	wait(NULL);
}

static void open_again(void)
{
	static const int flags[] = {O_RDWR, O_RDWR | O_APPEND, O_RDWR | O_TRUNC};

	tell("close", close(descriptor));
	descriptor = open(path, flags[any(3)]);
}

static void duplicate(void)
{
	int copy = dup(descriptor);

	write_burst();
	tell("copy", write(copy, "copy", 4));
	write_burst();
	close(copy);
}

static void print(void)
{
	uint32_t records = any(400);
	long total = 0;

	while (records--)
		switch (any(8)) {
		case 0:
			total += fprintf(stream, "%d %s %*d\n", any(1000), "text", any(90), 7);
			break;
		case 1:
			total += (long)fwrite(bytes(100), 1, any(100), stream);
			break;
		case 2:
			total += fputs("a line of text\n", stream) >= 0;
			break;
		case 3:
			total += fputc('c', stream);
			break;
		case 4:
			total += (long)fwrite_unlocked(bytes(20), 1 + any(20), 1, stream);
			break;
		case 5:
			total += fputc_unlocked('e', stream);
			break;
		case 6: /* inlined: the program writes into the stream's buffer itself */
			total += putc_unlocked('f', stream);
			break;
		default:
			total += putc('d', stream);
		}
	tell("print", total);
}

static void print_large(void)
{
	tell("fwrite", (long)fwrite(bytes(BYTES_MAX), 1, any(BYTES_MAX), stream));
}

static void flush(void)
{
	struct stat status;

	tell("fflush", fflush(stream));
	stat(stream_path, &status);
	tell("flushed", status.st_size);
}

static void flush_each(void)
{
	uint32_t records = any(100);
	long total = 0;

	while (records--) {
		total += fprintf(stream, "%d %*d\n", any(1000), any(90), 7);
		total += any(8) ? fflush(stream) : fflush_unlocked(stream);
	}
	tell("flushes", total);
}

static void flush_all(void)
{
	tell("fflush", fflush(NULL));
}

static void seek_stream(void)
{
	tell("fseek", fseek(stream, any(50000), SEEK_SET));
}

static void step_stream(void)
{
	tell("fseek", fseek(stream, -(long)any(100), SEEK_CUR));
}

static void where_stream(void)
{
	tell("ftell", ftell(stream));
}

static void open_stream_again(void)
{
	static const char *const modes[] = {"w", "a", "a", "r+"};

	tell("fclose", fclose(stream));
	stream = fopen(stream_path, modes[any(4)]);
}

static void reopen_stream(void)
{
	static const char *const modes[] = {"w", "a"};

	stream = freopen(stream_path, modes[any(2)], stream);
	tell("freopen", stream != NULL);
}

static void replace_stream_descriptor(void)
{
	int is_append = fcntl(fileno(stream), F_GETFL) & O_APPEND;
	int other = open(stream_path, O_RDWR | is_append);

	fflush(stream);
	tell("dup2", dup2(other, fileno(stream)) == fileno(stream));
	close(other);
	/* The C library still has the offset of the open file that was replaced. */
	fseek(stream, 0, SEEK_END);
}

static void print_in_child(void)
{
	fflush(stream);
	if (fork() == 0) {
		print();
		fflush(stream);
		_exit(0);
	}
	wait(NULL);
	fseek(stream, 0, SEEK_END);
}

static void (*const operations[])(void) = {
    write_one,
    write_one,
    write_one,
    write_large,
    write_burst,
    write_burst,
    write_burst,
    write_pieces,
    write_at,
    seek,
    where,
    look,
    look_from_outside,
    look_at_memory,
    look_at_size,
    cut,
    write_in_child,
    open_again,
    duplicate,
    yield,
    print,
    print,
    print,
    print,
    print_large,
    flush,
    flush_each,
    flush_each,
    flush_each,
    flush_all,
    seek_stream,
    step_stream,
    where_stream,
    open_stream_again,
    reopen_stream,
    replace_stream_descriptor,
    print_in_child,
};

#define OPERATIONS ((uint32_t)(sizeof(operations) / sizeof(*operations)))

static void tell_content(const char *name)
{
	static char text[BYTES_MAX];
	uint64_t sum = 0;
	int file = open(name, O_RDONLY);
	ssize_t size;

	while ((size = read(file, text, sizeof(text))) > 0)
		sum = hash(sum, text, (size_t)size);
	close(file);
	tell("content", (long)(sum >> 1));
	unlink(name);
}

int mix_file(int count)
{
	const char *folder = getenv("MIX_FOLDER");

	folder = folder ? folder : "/tmp";
	snprintf(path, sizeof(path), "%s/kadapt-mix-%d", folder, getpid());
	snprintf(stream_path, sizeof(stream_path), "%s/kadapt-mix-%d-stream", folder, getpid());
	descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	stream = fopen(stream_path, "w");
	while (count--)
		operations[any(OPERATIONS)]();
	fclose(stream);
	close(descriptor);
	tell_content(path);
	tell_content(stream_path);
	return 0;
}
