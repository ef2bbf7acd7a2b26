// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Starts the command with the caller's user, groups, limits, umask, ignored signals, directory
 * and environment, in a session of its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "init.h"

/* A shell's statuses for a command that cannot be executed, and for one that does not exist. */
#define STATUS_NOT_EXECUTABLE 126
#define STATUS_NOT_FOUND 127

#define PIPE_BYTES (1 << 20)

/* The command's ends of its streams, and the pipe on which it reports errors before its exec. */
struct child_side {
	int streams[STANDARD_STREAMS];
	int terminal;
	int report;
};

static bool open_pipe(int *ours, int *theirs, bool input)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return false;
	*ours = ends[input ? 1 : 0];
	*theirs = ends[input ? 0 : 1];
	/* For fewer, larger transfers. If the kernel refuses, the default size will do. */
	fcntl(*ours, F_SETPIPE_SZ, PIPE_BYTES);
	return !fcntl(*ours, F_SETFL, O_NONBLOCK);
}

/*
 * If input and output are terminals, the outer terminal is raw and this one does all the work.
 * Otherwise the outer one still adds carriage returns, so this one must not.
 */
static void set_terminal(int terminal, const struct channel *channel)
{
	const struct channel_request *request = &channel->request;
	struct termios settings = request->terminal;
	struct winsize size = window_size(channel);

	if (request->streams[STREAM_INPUT] != STREAM_TERMINAL ||
	    request->streams[STREAM_OUTPUT] != STREAM_TERMINAL)
		settings.c_oflag &= ~(tcflag_t)OPOST;
	tcsetattr(terminal, TCSANOW, &settings);
	ioctl(terminal, TIOCSWINSZ, &size);
}

static bool open_terminal(struct command *command, struct child_side *side,
			  const struct channel *channel)
{
	command->terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (command->terminal < 0 || grantpt(command->terminal) || unlockpt(command->terminal))
		return false;
	side->terminal = ioctl(command->terminal, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (side->terminal < 0 || fchown(side->terminal, channel->request.uid, (gid_t)-1))
		return false;
	set_terminal(side->terminal, channel);
	command->outputs[STREAM_PTY] = command->terminal;
	return !fcntl(command->terminal, F_SETFL, O_NONBLOCK);
}

static bool open_streams(struct command *command, struct child_side *side,
			 const struct channel *channel)
{
	const struct channel_request *request = &channel->request;

	for (int stream = 0; stream < STANDARD_STREAMS; stream++) {
		bool input = stream == STREAM_INPUT;
		int *ours = input ? &command->input : &command->outputs[stream];

		if (request->streams[stream] == STREAM_PIPE &&
		    !open_pipe(ours, &side->streams[stream], input))
			return false;
		if (request->streams[stream] != STREAM_TERMINAL)
			continue;
		if (side->terminal < 0 && !open_terminal(command, side, channel))
			return false;
		side->streams[stream] = side->terminal;
		if (input)
			command->input = command->terminal;
	}
	return true;
}

static void close_child_side(const struct child_side *side)
{
	for (int stream = 0; stream < STANDARD_STREAMS; stream++)
		if (side->streams[stream] >= 0 && side->streams[stream] != side->terminal)
			close(side->streams[stream]);
	if (side->terminal >= 0)
		close(side->terminal);
	close(side->report);
}

static noreturn void child_fails(int report, const char *what)
{
	dprintf(report, "%.200s: %s", what, strerror(errno));
	_exit(STATUS_NOT_FOUND);
}

static void take_signals(uint64_t ignored)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (int number = 1; number < NSIG; number++)
		if (ignored >> (number - 1) & 1)
			signal(number, SIG_IGN);
}

static void take_streams(struct child_side *side)
{
	if (setsid() < 0 || (side->terminal >= 0 && ioctl(side->terminal, TIOCSCTTY, 0)))
		child_fails(side->report, "the command's session");
	/* hold_standard_descriptors() has made sure that none of init's descriptors is below 3. */
	for (int stream = 0; stream < STANDARD_STREAMS; stream++) {
		if (side->streams[stream] < 0)
			close(stream);
		else if (dup2(side->streams[stream], stream) < 0)
			child_fails(side->report, "the command's streams");
	}
}

/* A limit that this kernel does not know or allow stays as it is. */
static void take_limits(const struct rlimit *limits)
{
	for (int resource = 0; resource < RLIM_NLIMITS; resource++)
		setrlimit(resource, &limits[resource]);
}

static void take_identity(const struct channel_request *request, int report)
{
	gid_t groups[CHANNEL_GROUPS];

	for (uint32_t i = 0; i < request->groups; i++)
		groups[i] = request->group[i];
	if (setgroups(request->groups, groups) || setgid(request->gid) || setuid(request->uid))
		child_fails(report, "the caller's identity");
	umask(request->umask);
	if (chdir(request->directory))
		child_fails(report, request->directory);
}

static char **take_strings(char **string, uint32_t count)
{
	char **list = calloc(count + 1, sizeof(*list));

	for (uint32_t i = 0; list && i < count; i++) {
		list[i] = *string;
		*string += strlen(*string) + 1;
	}
	return list;
}

static noreturn void child(struct child_side *side, struct channel *channel)
{
	const struct channel_request *request = &channel->request;
	char *string = (char *)channel + request->strings;
	const char *file = string;
	char **arguments;

	string += strlen(string) + 1;
	arguments = take_strings(&string, request->arguments);
	environ = take_strings(&string, request->variables);
	if (!arguments || !environ)
		child_fails(side->report, "the command's arguments");
	take_streams(side);
	take_limits(request->limits);
	take_identity(request, side->report);
	take_signals(request->ignored_signals);
	execvp(file, arguments);
	dprintf(STDERR_FILENO, "kadence: %s: %s\n", file, strerror(errno));
	_exit(errno == ENOENT || errno == ENOTDIR ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE);
}

/* Waits for the command's exec; the command then leads its process group and can be signalled. */
static bool wait_for_report(int report, struct channel *channel)
{
	ssize_t length;

	do
		length = read(report, channel->failure, sizeof(channel->failure) - 1);
	while (length < 0 && errno == EINTR);
	close(report);
	return length == 0;
}

static bool fails(struct channel *channel, const char *what)
{
	snprintf(channel->failure, sizeof(channel->failure), "%s: %s", what, strerror(errno));
	return false;
}

bool command_start(struct command *command, struct channel *channel)
{
	struct child_side side = {.streams = {-1, -1, -1}, .terminal = -1, .report = -1};
	int report[2];

	*command =
	    (struct command){.pid = -1, .input = -1, .outputs = {-1, -1, -1, -1}, .terminal = -1};
	if (pipe2(report, O_CLOEXEC))
		return fails(channel, "a pipe");
	side.report = report[1];
	if (!open_streams(command, &side, channel))
		return fails(channel, "the command's streams");
	command->pid = fork();
	if (command->pid < 0)
		return fails(channel, "fork");
	if (command->pid == 0)
		child(&side, channel);
	close_child_side(&side);
	return wait_for_report(report[0], channel);
}
