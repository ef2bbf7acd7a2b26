// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Carries bytes between the command's pipes or pseudo-terminal and the rings, and the relay's
 * signals and window sizes to the command.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "init.h"

/*
 * The shortest time between two looks at the streams. Init is a real-time process, so a command
 * that writes a line at a time would otherwise switch to init and back at each line.
 */
#define PACE_NS INT64_C(4000000)

enum poll_entry {
	POLL_DOORBELL,
	POLL_CHILDREN,
	POLL_INPUT,
	POLL_OUTPUT, /* and one for each of the streams after STREAM_OUTPUT */
	POLL_ENTRIES = POLL_OUTPUT + STREAMS - STREAM_OUTPUT,
};

void ring_doorbell(const struct guest *guest)
{
	/* If the line is full, the relay has not yet answered an earlier ring: it will look. */
	if (write(guest->doorbell, "", 1) < 0 && errno != EAGAIN)
		system_power_off();
}

static void close_stream(struct command *command, int *descriptor)
{
	/* Input and output share the pseudo-terminal, which stays open until the guest ends. */
	if (*descriptor != command->terminal)
		close(*descriptor);
	*descriptor = -1;
}

static void abandon_input(struct guest *guest)
{
	close_stream(&guest->command, &guest->command.input);
	if (ring_abandon(&guest->channel->rings[STREAM_INPUT]))
		ring_doorbell(guest);
}

static void feed_input(struct guest *guest)
{
	struct ring *ring = &guest->channel->rings[STREAM_INPUT];

	while (guest->command.input >= 0) {
		struct span filled = ring_filled(ring, (char *)guest->channel);
		ssize_t written;

		if (filled.length == 0) {
			if (ring_finished(ring))
				close_stream(&guest->command, &guest->command.input);
			return;
		}
		written = write(guest->command.input, filled.bytes, filled.length);
		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0 && errno == EAGAIN)
			return;
		if (written < 0)
			abandon_input(guest);
		else if (ring_consume(ring, written))
			ring_doorbell(guest);
	}
}

static void end_output(struct guest *guest, int stream)
{
	close_stream(&guest->command, &guest->command.outputs[stream]);
	if (ring_end(&guest->channel->rings[stream]))
		ring_doorbell(guest);
}

static void collect_output(struct guest *guest, int stream)
{
	struct ring *ring = &guest->channel->rings[stream];

	while (guest->command.outputs[stream] >= 0) {
		struct span room = ring_room(ring, (char *)guest->channel);
		ssize_t length;

		if (atomic_load(&ring->abandoned)) {
			end_output(guest, stream);
			return;
		}
		if (room.length == 0)
			return;
		length = read(guest->command.outputs[stream], room.bytes, room.length);
		if (length < 0 && errno == EINTR)
			continue;
		if (length < 0 && errno == EAGAIN)
			return;
		if (length <= 0)
			end_output(guest, stream); /* EIO is the end of a pseudo-terminal */
		else if (ring_produce(ring, length))
			ring_doorbell(guest);
	}
}

/*
 * A batch system that suspends a job then stops all of the kernel's processes, too. User-Mode Linux
 * loses a process that runs at that moment, so init stops all programs first, but not itself.
 */
static void pass_signal(const struct guest *guest, int number)
{
	if (number == SIGTSTP)
		kill(-1, SIGSTOP);
	else if (number == SIGCONT)
		kill(-1, SIGCONT);
	else
		kill(-guest->command.pid, number);
}

static void pass_signals(struct guest *guest)
{
	uint64_t signals = atomic_exchange(&guest->channel->signals, 0);

	for (int number = 1; signals; number++, signals >>= 1)
		if (signals & 1)
			pass_signal(guest, number);
}

struct winsize window_size(const struct channel *channel)
{
	uint32_t window = atomic_load(&channel->window);

	return (struct winsize){.ws_row = window >> 16, .ws_col = window & 0xffff};
}

static void pass_window(struct guest *guest)
{
	uint32_t window = atomic_load(&guest->channel->window);
	struct winsize size = window_size(guest->channel);

	if (guest->command.terminal < 0 || window == guest->window)
		return;
	guest->window = window;
	ioctl(guest->command.terminal, TIOCSWINSZ, &size);
}

static void answer_ping(struct guest *guest)
{
	uint32_t ping = atomic_load(&guest->channel->ping);

	if (atomic_exchange(&guest->channel->pong, ping) != ping)
		ring_doorbell(guest);
}

/* Fills in the events to wait for; returns whether nothing has to be done before waiting. */
static bool prepare(struct guest *guest, struct pollfd *entries)
{
	struct command *command = &guest->command;
	bool idle = true;

	entries[POLL_DOORBELL] = (struct pollfd){.fd = guest->doorbell, .events = POLLIN};
	entries[POLL_CHILDREN] = (struct pollfd){.fd = guest->children, .events = POLLIN};
	entries[POLL_INPUT] = (struct pollfd){.fd = command->input};
	if (command->input >= 0 && !ring_consumer_sleeps(&guest->channel->rings[STREAM_INPUT]))
		entries[POLL_INPUT].events = POLLOUT;
	for (int stream = STREAM_OUTPUT; stream < STREAMS; stream++) {
		struct pollfd *entry = &entries[POLL_OUTPUT + stream - STREAM_OUTPUT];
		bool waits = command->outputs[stream] >= 0 &&
			     ring_producer_sleeps(&guest->channel->rings[stream]);

		/* If the ring is full, the doorbell reports room. */
		*entry =
		    (struct pollfd){.fd = waits ? -1 : command->outputs[stream], .events = POLLIN};
		if (atomic_load(&guest->channel->rings[stream].abandoned) && entry->fd >= 0)
			idle = false;
	}
	return idle;
}

static void empty(int descriptor)
{
	char bytes[sizeof(struct signalfd_siginfo) * 4];

	while (read(descriptor, bytes, sizeof(bytes)) > 0)
		;
}

/* Keeps the pace, but returns at once when the command ends, because that ends its time. */
static void pace(const struct guest *guest)
{
	static int64_t next;
	struct pollfd children = {.fd = guest->children, .events = POLLIN};
	int64_t now = now_ns();

	if (now < next) {
		struct timespec rest = {.tv_nsec = next - now};

		ppoll(&children, 1, &rest, NULL);
		now = now_ns();
	}
	next = now + PACE_NS;
}

/* Waits for work, at most `timeout_ms`, and does it. */
void streams_turn(struct guest *guest, int timeout_ms)
{
	struct pollfd entries[POLL_ENTRIES];
	bool idle = prepare(guest, entries);

	pace(guest);
	if (poll(entries, POLL_ENTRIES, idle ? timeout_ms : 0) < 0 && errno != EINTR)
		system_power_off();
	if (entries[POLL_DOORBELL].revents & (POLLHUP | POLLERR))
		system_power_off(); /* the relay is gone */
	empty(guest->doorbell);
	empty(guest->children);
	pass_signals(guest);
	pass_window(guest);
	answer_ping(guest);
	feed_input(guest);
	if (entries[POLL_INPUT].revents & POLLERR && guest->command.input >= 0)
		abandon_input(guest);
	for (int stream = STREAM_OUTPUT; stream < STREAMS; stream++)
		collect_output(guest, stream);
}

bool streams_open(const struct command *command)
{
	for (int stream = STREAM_OUTPUT; stream < STREAMS; stream++)
		if (command->outputs[stream] >= 0)
			return true;
	return false;
}
