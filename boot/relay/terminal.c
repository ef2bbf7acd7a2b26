// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The outer terminal. While the command runs, its pseudo-terminal in the guest does a terminal's
 * work (editing, echo, Ctrl-C), so the outer one only passes bytes.
 */
#include <sys/ioctl.h>
#include <unistd.h>

#include "relay.h"

static struct termios saved;
static bool is_raw;

/* Returns the descriptor that shows the pseudo-terminal's output, or -1. */
int terminal_descriptor(const struct channel_request *request)
{
	static const int order[] = {STDOUT_FILENO, STDERR_FILENO, STDIN_FILENO};

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		if (request->streams[order[i]] == STREAM_TERMINAL)
			return order[i];
	return -1;
}

uint32_t terminal_window(const struct channel_request *request)
{
	struct winsize size;
	int descriptor = terminal_descriptor(request);

	if (descriptor < 0 || ioctl(descriptor, TIOCGWINSZ, &size))
		return 0;
	return (uint32_t)size.ws_row << 16 | size.ws_col;
}

void terminal_describe(struct channel *channel)
{
	int descriptor = terminal_descriptor(&channel->request);

	if (descriptor >= 0)
		tcgetattr(descriptor, &channel->request.terminal);
	atomic_store(&channel->window, terminal_window(&channel->request));
}

/* Only in the foreground: changing a terminal from the background stops the process. */
void terminal_make_raw(const struct channel_request *request)
{
	struct termios raw;

	if (request->streams[STREAM_INPUT] != STREAM_TERMINAL ||
	    tcgetpgrp(STDIN_FILENO) != getpgrp() || tcgetattr(STDIN_FILENO, &saved))
		return;
	raw = saved;
	cfmakeraw(&raw);
	if (request->streams[STREAM_OUTPUT] != STREAM_TERMINAL)
		raw.c_oflag = saved.c_oflag;
	is_raw = !tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
}

void terminal_restore(void)
{
	/* The relay may have released standard input. All three are the same terminal then. */
	for (int descriptor = STDIN_FILENO; is_raw && descriptor <= STDERR_FILENO; descriptor++)
		if (!tcsetattr(descriptor, TCSADRAIN, &saved))
			is_raw = false;
}
