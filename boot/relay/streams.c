// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Carries bytes between the caller's descriptors and the rings. Each descriptor has a thread: it
 * may block, and other processes share it, so the relay must not make it non-blocking.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "relay.h"

#define TRANSFER (1 << 16)

void doorbell_ring(int doorbell)
{
	/* If the socket is full, the guest will look anyway. If it is gone, turn() sees that. */
	ssize_t ignored = send(doorbell, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);

	(void)ignored;
}

/* Waits for the other side of the ring, or an event of the descriptor; true for an event. */
static bool carrier_wait(const struct carrier *carrier, int descriptor, short events)
{
	struct pollfd entries[] = {
	    {.fd = carrier->wake, .events = POLLIN},
	    {.fd = descriptor, .events = events},
	};
	uint64_t count;

	if (poll(entries, 2, -1) < 0)
		return false;
	if (entries[0].revents && read(carrier->wake, &count, sizeof(count)) < 0)
		return false;
	return entries[1].revents & (events | POLLERR | POLLHUP | POLLNVAL);
}

/* Closes the descriptor for good, so that the other end of a pipe sees its end. */
static void release(struct carrier *carrier)
{
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (carrier->descriptor <= STDERR_FILENO)
		dup2(nothing, carrier->descriptor);
	close(nothing);
}

static void *carry_in(void *argument)
{
	struct carrier *carrier = argument;
	struct ring *ring = carrier->ring;
	ssize_t length = 1;

	while (length && !atomic_load(&ring->abandoned)) {
		struct span room = ring_room(ring, carrier->base);

		if (room.length == 0) {
			if (ring_producer_sleeps(ring))
				carrier_wait(carrier, -1, 0);
			continue;
		}
		if (!carrier_wait(carrier, carrier->descriptor, POLLIN))
			continue;
		length = read(carrier->descriptor, room.bytes,
			      room.length < TRANSFER ? room.length : TRANSFER);
		if (length < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (length <= 0)
			break;
		if (ring_produce(ring, (size_t)length))
			doorbell_ring(carrier->doorbell);
	}
	if (ring_end(ring))
		doorbell_ring(carrier->doorbell);
	release(carrier);
	return NULL;
}

/* Returns false if the descriptor's reader is gone. */
static bool write_some(struct carrier *carrier, struct span filled)
{
	ssize_t length = write(carrier->descriptor, filled.bytes,
			       filled.length < TRANSFER ? filled.length : TRANSFER);

	if (length < 0 && errno == EAGAIN) {
		struct pollfd entry = {.fd = carrier->descriptor, .events = POLLOUT};

		poll(&entry, 1, -1);
		return true;
	}
	if (length < 0)
		return errno == EINTR;
	if (ring_consume(carrier->ring, (size_t)length))
		doorbell_ring(carrier->doorbell);
	return true;
}

static void *carry_out(void *argument)
{
	struct carrier *carrier = argument;
	struct ring *ring = carrier->ring;
	bool wanted = true;

	while (wanted && !ring_finished(ring)) {
		struct span filled = ring_filled(ring, carrier->base);

		if (filled.length)
			wanted = write_some(carrier, filled);
		else if (ring_consumer_sleeps(ring))
			wanted = !carrier_wait(carrier, carrier->descriptor, 0);
	}
	if (!wanted && ring_abandon(ring))
		doorbell_ring(carrier->doorbell);
	release(carrier);
	return NULL;
}

static void start_one(struct carrier *carrier, void *(*carry)(void *), int descriptor)
{
	carrier->descriptor = descriptor;
	carrier->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (carrier->wake < 0)
		fail("eventfd");
	errno = pthread_create(&carrier->thread, NULL, carry, carrier);
	if (errno)
		fail("pthread_create");
	carrier->running = true;
}

void carrier_start(struct carrier *carriers, struct channel *channel, int doorbell)
{
	const struct channel_request *request = &channel->request;
	int terminal = terminal_descriptor(request);

	for (int stream = 0; stream < STREAMS; stream++) {
		carriers[stream].ring = &channel->rings[stream];
		carriers[stream].base = (char *)channel;
		carriers[stream].doorbell = doorbell;
	}
	for (int stream = STREAM_OUTPUT; stream < STANDARD_STREAMS; stream++)
		if (request->streams[stream] == STREAM_PIPE)
			start_one(&carriers[stream], carry_out, stream);
	if (terminal >= 0)
		start_one(&carriers[STREAM_PTY], carry_out, terminal);
}

/* Called once the command runs: if the guest fails to boot, all input is left for another run. */
void carrier_start_input(struct carrier *carriers, const struct channel_request *request)
{
	if (request->streams[STREAM_INPUT] != STREAM_CLOSED)
		start_one(&carriers[STREAM_INPUT], carry_in, STDIN_FILENO);
}

void carriers_wake(struct carrier *carriers)
{
	for (int stream = 0; stream < STREAMS; stream++)
		if (carriers[stream].running)
			eventfd_write(carriers[stream].wake, 1);
}

/* Waits for the output's threads only: the input's thread may block for ever in read(). */
void carriers_finish(struct carrier *carriers)
{
	carriers_wake(carriers);
	for (int stream = STREAM_OUTPUT; stream < STREAMS; stream++)
		if (carriers[stream].running)
			pthread_join(carriers[stream].thread, NULL);
}
