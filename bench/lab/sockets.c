// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Records sent over TCP on the loopback device with TCP_NODELAY. The receiver's work is included.
 *
 * tcp_send: the receiver reads after every 16 records, so every record is sent by itself, and most
 * are acknowledged by themselves.
 *
 * tcp_burst: the receiver reads after all records of a round are sent. While it does not read,
 * acknowledgements come late, and records gather in the sender's queue and travel together.
 *
 * Both ends are in one process. With two processes the scheduler would decide which of the two
 * cases a record meets, and the same kernel would take 2,000 to 15,000 instructions per record.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lab.h"
#include "loopback.h"
#include "place.h"

#define SMALL_BURST 16
#define RECEIVE_BYTES 65536

static char record[LARGEST_RECORD];
static int sender = -1;
static int receiver = -1;

static int connect_to(const struct sockaddr_in *address)
{
	int yes = 1;
	int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (made < 0 || setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes)) ||
	    connect(made, (const struct sockaddr *)address, sizeof(*address)))
		return -errno;
	return made;
}

int connect_over_tcp(int ends[2])
{
	struct sockaddr_in address;
	int listener = loopback_listen(&address);

	if (listener < 0)
		return listener;
	ends[0] = connect_to(&address);
	ends[1] = ends[0] < 0 ? ends[0] : accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	close(listener);
	if (ends[0] < 0)
		return ends[0];
	return ends[1] < 0 ? -errno : 0;
}

static int open_connection(long unused)
{
	int ends[2] = {-1, -1};
	int error = connect_over_tcp(ends);

	(void)unused;
	sender = ends[0];
	receiver = ends[1];
	return error;
}

static int receive(long missing)
{
	static char buffer[RECEIVE_BYTES];

	while (missing > 0) {
		ssize_t got = recv(receiver, buffer, sizeof(buffer), 0);

		if (got <= 0)
			return got ? -errno : -EPIPE;
		missing -= got;
	}
	return 0;
}

/* Sends one record. If the queue is full, the receiver reads first. Updates `under_way`. */
static int send_record(long size, long *under_way)
{
	ssize_t length = send(sender, record, size, MSG_DONTWAIT);
	int error;

	if (length < 0 && errno != EAGAIN)
		return -errno;
	if (length < 0)
		length = 0;
	*under_way += length;
	if (length == size)
		return 0;
	error = receive(*under_way);
	*under_way = size - length;
	if (!error && send(sender, record, size - length, 0) != size - length)
		error = -EIO;
	return error;
}

static int exchange(long size, long count, long burst)
{
	long under_way = 0;
	int error = 0;

	for (long i = 1; !error && i <= count; i++) {
		error = send_record(size, &under_way);
		if (error || i % burst)
			continue;
		error = receive(under_way);
		under_way = 0;
	}
	return error;
}

static int run_send(long size, long count)
{
	return exchange(size, count, SMALL_BURST);
}

static int run_burst(long size, long count)
{
	return exchange(size, count, count);
}

static void close_connection(void)
{
	if (sender >= 0)
		close(sender);
	if (receiver >= 0)
		close(receiver);
	sender = -1;
	receiver = -1;
}

#define TCP(how, bytes)                                                                            \
	{                                                                                          \
		.name = "tcp_" #how "_" #bytes, .unit = "ns", .argument = bytes,                   \
		.batch = RECORDS_PER_ROUND, .crossings = 1, .prepare = open_connection,            \
		.run = run_##how, .finish = close_connection,                                      \
	}

const struct operation socket_operations[] = {
    TCP(send, 16), TCP(send, 256), TCP(send, 1024), TCP(burst, 256), TCP(burst, 1024), {0},
};
