/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Transfers of known sizes, from known sites, in known orders, to known peers. */

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { RECORDS = 64, PORT = 9 };

static char bytes[1 << 16];
static int failures;

static void check(long result, long expected)
{
	failures += result != expected;
}

__attribute__((noinline)) static void upwards(int file)
{
	for (int i = 0; i < RECORDS; i++)
		check(write(file, bytes, 16), 16);
}

__attribute__((noinline)) static void downwards(int file)
{
	for (int i = RECORDS; i-- > 0;) {
		check(lseek(file, 16 * i, SEEK_SET), 16 * i);
		check(read(file, bytes, 16), 16);
	}
}

/* Every other read begins where the one before ended. */
__attribute__((noinline)) static void in_pairs(int file)
{
	for (int i = 0; i < 8; i++) {
		check(pread(file, bytes, 16, 128 * (i % 4)), 16);
		check(pread(file, bytes, 16, 128 * (i % 4) + 16), 16);
	}
}

__attribute__((noinline)) static void of_many_sizes(int file)
{
	check(write(file, bytes, 0), 0);
	for (int bits = 0; bits < 16; bits++)
		check(write(file, bytes, 1 << bits), 1 << bits);
	check(write(file, bytes, 3), 3);
}

__attribute__((noinline)) static void by_stdio(FILE *file)
{
	for (int i = 0; i < 4096; i++)
		check((long)fwrite(bytes, 1, 64, file), 64);
	check(fflush(file), 0);
}

__attribute__((noinline)) static void to_two_peers(void)
{
	struct sockaddr_in peer = {.sin_family = AF_INET, .sin_port = htons(PORT)};
	int any = socket(AF_INET, SOCK_DGRAM, 0), one = socket(AF_INET, SOCK_DGRAM, 0);

	peer.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	for (int i = 0; i < 3; i++)
		check(sendto(any, bytes, 5, 0, (struct sockaddr *)&peer, sizeof(peer)), 5);
	peer.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1);
	check(connect(one, (struct sockaddr *)&peer, sizeof(peer)), 0);
	check(write(one, bytes, 7), 7);
	close(one);
}

__attribute__((noinline)) static void to_a_path(const char *path)
{
	struct sockaddr_un peer = {.sun_family = AF_UNIX};
	int here = socket(AF_UNIX, SOCK_DGRAM, 0), there = socket(AF_UNIX, SOCK_DGRAM, 0);

	strncpy(peer.sun_path, path, sizeof(peer.sun_path) - 1);
	check(bind(there, (struct sockaddr *)&peer, sizeof(peer)), 0);
	check(connect(here, (struct sockaddr *)&peer, sizeof(peer)), 0);
	check(send(here, bytes, 9, 0), 9);
}

/* One descriptor number is a pipe's, then a socket's, and once that is closed, a file's. */
__attribute__((noinline)) static void by_one_number(const char *path)
{
	int ends[2], number;

	check(pipe(ends), 0);
	number = ends[1];
	check(write(number, bytes, 11), 11);
	check(dup2(socket(AF_INET, SOCK_DGRAM, 0), number), number);
	check(write(number, bytes, 13), -1);
	check(close(number), 0);
	check(open(path, O_WRONLY), number);
	check(write(number, bytes, 17), 17);
}

int main(int argc, char **argv)
{
	int file = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
	FILE *stream = fopen(argv[1], "r+");

	if (argc != 3)
		return 2;
	upwards(file);
	downwards(file);
	in_pairs(file);
	of_many_sizes(file);
	by_stdio(stream);
	to_two_peers();
	to_a_path(argv[2]);
	by_one_number(argv[1]);
	return failures;
}
