/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Known numbers of system calls, on every kind of descriptor. */

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static char bytes[4096];

static void repeat_write(int descriptor, int times, size_t length)
{
	for (int i = 0; i < times; i++) {
		if (write(descriptor, bytes, length) != (ssize_t)length)
			_exit(1);
	}
}

static void use_file(const char *path)
{
	struct iovec parts[2] = {{bytes, 10}, {bytes, 20}};
	int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

	repeat_write(file, 100, 16);
	for (int i = 0; i < 7; i++) {
		if (pread(file, bytes, 100, 0) != 100)
			_exit(1);
	}
	for (int i = 0; i < 3; i++) {
		if (writev(file, parts, 2) != 30)
			_exit(1);
	}
	close(file);
}

static void use_sockets(void)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		_exit(1);
	for (int i = 0; i < 5; i++) {
		if (send(ends[0], bytes, 50, 0) != 50 || recv(ends[1], bytes, 30, 0) != 30)
			_exit(1);
	}
	close(socket(AF_INET, SOCK_STREAM, 0));
}

static void use_pipe_and_device(void)
{
	int ends[2];
	int zero = open("/dev/zero", O_RDONLY);

	if (pipe(ends))
		_exit(1);
	repeat_write(ends[1], 11, 8);
	for (int i = 0; i < 4; i++) {
		if (read(zero, bytes, 1000) != 1000)
			_exit(1);
	}
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	use_file(argv[1]);
	use_sockets();
	use_pipe_and_device();
	for (int i = 0; i < 13; i++)
		syscall(SYS_getppid);
	mmap(NULL, 1 << 30, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mmap(NULL, 64 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return 0;
}
