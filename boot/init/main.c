// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The guest's init: runs one command as the caller would have run it on the host, reports how it
 * ended, and powers off. ../channel.h describes how init talks to the relay on the host.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "init.h"
#include "../mark.h"

/* The time for processes that the command left running to end, such as a shell's `>(tee log)`. */
#define LEFT_BEHIND_NS INT64_C(2000000000)
#define LEFT_BEHIND_LOOK_MS 20
#define GO_LOOK_MS 10

int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

noreturn void give_up(const char *what)
{
	system_log("%s: %s", what, strerror(errno));
	system_power_off();
}

static int open_doorbell(void)
{
	struct termios settings;
	int line = open("/dev/ttyS0", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);

	if (line < 0 || tcgetattr(line, &settings))
		give_up("/dev/ttyS0");
	cfmakeraw(&settings);
	settings.c_cflag |= CLOCAL;
	if (tcsetattr(line, TCSANOW, &settings))
		give_up("/dev/ttyS0");
	return line;
}

static int watch_children(void)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	return signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

/*
 * Streams and signals must not wait behind a command with a quantum of seconds. Children start as
 * ordinary processes.
 */
static void take_precedence(void)
{
	struct sched_param parameters = {.sched_priority = 1};

	if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &parameters))
		system_log("init stays an ordinary process: %s", strerror(errno));
}

/* Reaps ended children and notes the command's status. Returns whether children are left. */
static bool reap(struct guest *guest, bool *ended)
{
	struct channel_result *result = &guest->channel->result;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid != guest->command.pid)
			continue;
		result->wait_status = status;
		*ended = true;
	}
	return pid == 0;
}

static void run_command(struct guest *guest)
{
	int64_t start = now_ns();
	bool ended = false;

	while (reap(guest, &ended), !ended)
		streams_turn(guest, -1);
	/* The lab began a section for the command (kadence/lab/settle.c). */
	KADENCE_MARK("0");
	guest->channel->result.wall_ns = now_ns() - start;
}

static void end_left_behind(struct guest *guest)
{
	int64_t deadline = now_ns() + LEFT_BEHIND_NS;
	bool ignored;

	while (reap(guest, &ignored)) {
		if (now_ns() >= deadline) {
			system_log("killing what the command left running");
			kill(-1, SIGKILL);
			deadline = INT64_MAX;
		}
		streams_turn(guest, LEFT_BEHIND_LOOK_MS);
	}
	while (streams_open(&guest->command))
		streams_turn(guest, -1);
}

/* The doorbell announces `go`. Init also checks every GO_LOOK_MS, in case the ring is lost. */
static void wait_for_go(const struct guest *guest)
{
	struct pollfd doorbell = {.fd = guest->doorbell, .events = POLLIN};

	atomic_store(&guest->channel->state, CHANNEL_READY);
	ring_doorbell(guest);
	while (!atomic_load(&guest->channel->go))
		poll(&doorbell, 1, GO_LOOK_MS);
}

static void serve(struct guest *guest)
{
	struct channel *channel = guest->channel;

	if (channel->request.hold)
		wait_for_go(guest);
	counters_clear();
	channel->result.booted_ns = now_ns();
	if (!command_start(&guest->command, channel)) {
		atomic_store(&channel->state, CHANNEL_FAILED);
		return;
	}
	atomic_store(&channel->state, CHANNEL_STARTED);
	ring_doorbell(guest);
	run_command(guest);
	end_left_behind(guest);
	counters_save();
	getrusage(RUSAGE_CHILDREN, &channel->result.usage);
	sync();
	atomic_store(&channel->state, CHANNEL_FINISHED);
}

/* Without a console, the kernel starts init without descriptors 0 to 2. */
static void hold_standard_descriptors(void)
{
	int descriptor;

	do
		descriptor = open("/dev/null", O_RDWR);
	while (descriptor >= 0 && descriptor <= STDERR_FILENO);
	close(descriptor);
}

/* ../acceleration.py tests whether a kernel boots here. */
static void answer_probe(void)
{
	system_log("probe");
	system_power_off();
}

int main(int count, char **arguments)
{
	struct guest guest = {.window = 0};

	root_begin();
	if (count > 1 && strcmp(arguments[1], "kadence_probe") == 0)
		answer_probe();
	root_enter();
	system_mount();
	hold_standard_descriptors();
	guest.channel = shared_map();
	guest.doorbell = open_doorbell();
	guest.children = watch_children();
	if (guest.children < 0)
		give_up("signalfd");
	system_prepare(&guest.channel->request);
	processors_raise();
	take_precedence();
	serve(&guest);
	ring_doorbell(&guest);
	system_power_off();
}
