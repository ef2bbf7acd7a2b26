// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * send-MAKE SIZE BYTES: sends BYTES bytes over TCP on the loopback device, in pieces of SIZE bytes,
 * to a process that reads and discards them. Prints
 *
 *	MAKE SIZE BYTES NANOSECONDS
 *
 * The time begins with the first send. It ends when the receiver has read everything and returned a
 * checksum: the sum of all 64-bit words, each times its place. MAKE decides how the pieces are
 * sent: see pieces*.c.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "loopback.h"
#include "send.h"

#define RECEIVE_BYTES (256 << 10)

static uint64_t buffer[BUFFER_BYTES / sizeof(uint64_t)];

void die(const char *what)
{
	fprintf(stderr, "send: %s: %s\n", what, strerror(errno));
	exit(EXIT_FAILURE);
}

static uint64_t sum_from(uint64_t place, const uint64_t *words, size_t count)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += words[i] * (place + i + 1);
	return sum;
}

/* Fills its buffer before summing, so that there are always whole words. */
static size_t receive(int end, char *to, size_t wanted)
{
	size_t done = 0;

	while (done < wanted) {
		ssize_t got = recv(end, to + done, wanted - done, 0);

		if (got <= 0)
			die("recv");
		done += (size_t)got;
	}
	return done / sizeof(uint64_t);
}

static void receive_all(int end, uint64_t bytes)
{
	static uint64_t words[RECEIVE_BYTES / sizeof(uint64_t)];
	uint64_t place = 0, sum = 0;

	while (place * sizeof(uint64_t) < bytes) {
		size_t count = receive(end, (char *)words, sizeof(words));

		sum += sum_from(place, words, count);
		place += count;
	}
	if (write(end, &sum, sizeof(sum)) != sizeof(sum))
		die("write");
	_exit(EXIT_SUCCESS);
}

static int connect_to_receiver(uint64_t bytes)
{
	struct sockaddr_in address;
	int listener = loopback_listen(&address);
	int end = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	pid_t pid;

	if (listener < 0)
		die("listen");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0)
		receive_all(accept(listener, NULL, NULL), bytes);
	close(listener);
	if (connect(end, (struct sockaddr *)&address, sizeof(address)))
		die("connect");
	return end;
}

static int64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static uint64_t expected_sum(uint64_t bytes)
{
	size_t count = BUFFER_BYTES / sizeof(uint64_t);
	uint64_t sum = 0;

	for (uint64_t place = 0; place * sizeof(uint64_t) < bytes; place += count)
		sum += sum_from(place, buffer, count);
	return sum;
}

static int64_t transfer(size_t size, uint64_t bytes)
{
	int end = connect_to_receiver(bytes);
	uint64_t expected = expected_sum(bytes), sum;
	int64_t start = now_ns(), took;

	for (uint64_t done = 0; done < bytes; done += BUFFER_BYTES)
		send_pieces(end, (const char *)buffer, size);
	if (recv(end, &sum, sizeof(sum), MSG_WAITALL) != sizeof(sum))
		die("recv");
	took = now_ns() - start;
	if (sum != expected) {
		fputs("send: the received data differ from the sent data\n", stderr);
		exit(EXIT_FAILURE);
	}
	wait(NULL);
	return took;
}

/* A power of two from 8 bytes to the whole buffer; 0 for any other text. */
static size_t piece_size(const char *text)
{
	char *end;
	unsigned long size = strtoul(text, &end, 10);

	return *end || size < 8 || size > BUFFER_BYTES || size & (size - 1) ? 0 : size;
}

static uint64_t transfer_bytes(const char *text)
{
	char *end;
	unsigned long bytes = strtoul(text, &end, 10);

	return *end || *text == '-' || bytes % BUFFER_BYTES ? 0 : bytes;
}

int main(int count, char **arguments)
{
	size_t size = count == 3 ? piece_size(arguments[1]) : 0;
	uint64_t bytes = count == 3 ? transfer_bytes(arguments[2]) : 0;

	if (!size || !bytes) {
		fprintf(stderr, "usage: %s SIZE BYTES (a power of two from 8; a multiple of %d)\n",
			*arguments, BUFFER_BYTES);
		return 2;
	}
	for (size_t i = 0; i < BUFFER_BYTES / sizeof(uint64_t); i++)
		buffer[i] = i * UINT64_C(0x9e3779b97f4a7c15);
	printf("%s %zu %ju %jd\n", MAKE, size, (uintmax_t)bytes, (intmax_t)transfer(size, bytes));
	return EXIT_SUCCESS;
}
