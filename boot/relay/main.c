// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs a command under another kernel, in place of the caller: its standard streams, signals
 * and terminal are the command's. It starts the kernel, carries the streams through
 * the shared memory of ../channel.h, watches that the guest lives, and reports.
 *
 * The report (report.c) says how the run ended; the exit status is 0 if there is a report. However
 * the relay ends, the kernel and all its processes end with it. No file is left: all data is in
 * memory and in files without a name.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "relay.h"

/* The time that the guest may take to power off after it has delivered everything. */
#define POWER_OFF_NS INT64_C(5000000000)
/* If two turns are further apart, the relay itself was stopped: the guest is not to blame. */
#define STOPPED_NS INT64_C(5000000000)
#define TURN_MS 1000

static const int forwarded[] = {SIGINT,	 SIGTERM, SIGHUP,  SIGQUIT, SIGUSR1,
				SIGUSR2, SIGALRM, SIGTSTP, SIGCONT};

struct session {
	const struct options *options;
	struct channel *channel;
	struct carrier carriers[STREAMS];
	struct kernel kernel;
	struct log log;
	int doorbell;
	int monitor;
	int signals;
	int stand_in;	    /* pipe on which the stand-in sends the command's signals, or -1 */
	int interrupted_by; /* signal that came before the command was started, or 0 */
	int64_t started_ns;
	int64_t command_ns; /* when the command started, or 0 */
	int64_t pinged_ns;  /* of the last ping, the command's start or the relay's last stop */
	int64_t turn_ns;
	const char *outcome; /* NULL while the run goes on */
};

int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

noreturn void fail(const char *what)
{
	fprintf(stderr, "kadence-relay: %s: %s\n", what, strerror(errno));
	terminal_restore();
	exit(EXIT_FAILURE);
}

/* From here on the relay dies with its caller. */
static void follow_parent(pid_t parent)
{
	if (prctl(PR_SET_PDEATHSIG, PARENT_DIED) || prctl(PR_SET_CHILD_SUBREAPER, 1))
		fail("prctl");
	if (getppid() != parent)
		exit(EXIT_FAILURE);
}

/* The caller may have ignored SIGINT or others for the command. Blocked, they reach signalfd. */
static int watch_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGWINCH);
	sigaddset(&set, PARENT_DIED);
	for (size_t i = 0; i < sizeof(forwarded) / sizeof(forwarded[0]); i++)
		sigaddset(&set, forwarded[i]);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		fail("sigprocmask");
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void abort_session(struct session *session)
{
	kernel_kill(&session->kernel);
	terminal_restore();
	_exit(EXIT_FAILURE);
}

/* The last one of SIGTSTP and SIGCONT counts, so each clears the other. */
static void suspend_or_resume(struct session *session, int number)
{
	uint64_t other = UINT64_C(1) << ((number == SIGTSTP ? SIGCONT : SIGTSTP) - 1);

	atomic_fetch_and(&session->channel->signals, ~other);
	atomic_fetch_or(&session->channel->signals, UINT64_C(1) << (number - 1));
	doorbell_ring(session->doorbell);
}

static void take_signal(struct session *session, int number)
{
	if (number == PARENT_DIED) {
		abort_session(session);
	} else if (number == SIGCHLD) {
		kernel_reap(&session->kernel);
	} else if (number == SIGWINCH) {
		atomic_store(&session->channel->window,
			     terminal_window(&session->channel->request));
		doorbell_ring(session->doorbell);
	} else if (number == SIGTSTP || number == SIGCONT) {
		suspend_or_resume(session, number);
	} else if (!session->command_ns) {
		session->outcome = "interrupted";
		session->interrupted_by = number;
	} else {
		atomic_fetch_or(&session->channel->signals, UINT64_C(1) << (number - 1));
		doorbell_ring(session->doorbell);
	}
}

static bool is_forwarded(int number)
{
	for (size_t i = 0; i < sizeof(forwarded) / sizeof(forwarded[0]); i++)
		if (forwarded[i] == number)
			return true;
	return false;
}

/*
 * A signal to all processes of a job hits both the stand-in and the relay, but the command is to
 * get it once. The stand-in is always hit, so the relay ignores its own copy. A terminal's signals
 * to its foreground group are the exception: the stand-in leaves them to the relay.
 */
static bool is_duplicate(const struct session *session, const struct signalfd_siginfo *info)
{
	return session->stand_in >= 0 && is_forwarded((int)info->ssi_signo) &&
	       info->ssi_code != SI_KERNEL;
}

static void take_signals(struct session *session)
{
	struct signalfd_siginfo info;

	while (read(session->signals, &info, sizeof(info)) == sizeof(info))
		if (!is_duplicate(session, &info))
			take_signal(session, (int)info.ssi_signo);
}

/* If read() returns none, the stand-in is gone; PARENT_DIED reports that. */
static void take_from_stand_in(struct session *session)
{
	unsigned char numbers[64];
	ssize_t count = read(session->stand_in, numbers, sizeof(numbers));

	if (count <= 0)
		session->stand_in = -1;
	for (ssize_t i = 0; i < count; i++)
		if (is_forwarded(numbers[i]))
			take_signal(session, numbers[i]);
}

static void answer_doorbell(struct session *session)
{
	char bytes[256];

	while (recv(session->doorbell, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
	carriers_wake(session->carriers);
}

static void look_at_guest(struct session *session)
{
	uint32_t state = atomic_load(&session->channel->state);

	if (state == CHANNEL_READY && !atomic_load(&session->channel->go)) {
		monitor_tell(session->monitor, session->options->at_start);
		atomic_store(&session->channel->go, 1);
		doorbell_ring(session->doorbell);
	}
	if (state >= CHANNEL_STARTED && !session->command_ns) {
		session->command_ns = now_ns();
		session->pinged_ns = session->command_ns;
		if (state == CHANNEL_STARTED)
			carrier_start_input(session->carriers, &session->channel->request);
	}
	if (state == CHANNEL_FINISHED)
		session->outcome = "finished";
	else if (state == CHANNEL_FAILED)
		session->outcome = "failed";
	else if (session->kernel.ended)
		session->outcome = "died";
}

/*
 * Pings the guest once a quarter of the limit has passed since the last ping, if that was answered.
 * A ping that stays unanswered for the whole limit means that the guest hangs.
 */
static void check_life(struct session *session, int64_t now)
{
	struct channel *channel = session->channel;
	uint32_t ping = atomic_load(&channel->ping);
	int64_t limit = session->options->hang_timeout_ns;

	if (now - session->turn_ns > STOPPED_NS) {
		session->pinged_ns = now;
	} else if (ping != atomic_load(&channel->pong)) {
		if (now - session->pinged_ns > limit)
			session->outcome = "hang";
	} else if (now - session->pinged_ns > limit / 4) {
		session->pinged_ns = now;
		atomic_store(&channel->ping, ping + 1);
		doorbell_ring(session->doorbell);
	}
}

static void check_time(struct session *session)
{
	const struct options *options = session->options;
	int64_t now = now_ns();

	if (!session->command_ns) {
		if (now - session->started_ns > options->boot_timeout_ns)
			session->outcome = "boot-timeout";
	} else if (options->timeout_ns && now - session->command_ns > options->timeout_ns) {
		session->outcome = "timeout";
	} else {
		check_life(session, now);
	}
	session->turn_ns = now;
}

/* Returns the time until the next time-out, at most TURN_MS. */
static int turn_ms(const struct session *session)
{
	const struct options *options = session->options;
	int64_t end = session->command_ns ? session->command_ns + options->timeout_ns
					  : session->started_ns + options->boot_timeout_ns;
	int64_t left = (end - now_ns()) / 1000000 + 1;

	if ((session->command_ns && !options->timeout_ns) || left > TURN_MS)
		return TURN_MS;
	return left < 0 ? 0 : (int)left;
}

static void turn(struct session *session, int timeout_ms)
{
	struct pollfd entries[] = {
	    {.fd = session->doorbell, .events = POLLIN},
	    {.fd = session->signals, .events = POLLIN},
	    {.fd = session->log.descriptor, .events = POLLIN},
	    {.fd = session->stand_in, .events = POLLIN},
	};

	/* An ended kernel's descriptors would wake poll() for ever. SIGCHLD reports the end. */
	if (session->kernel.ended)
		entries[0].fd = entries[2].fd = -1;
	poll(entries, sizeof(entries) / sizeof(entries[0]), timeout_ms);
	log_read(&session->log);
	answer_doorbell(session);
	take_signals(session);
	if (entries[3].revents)
		take_from_stand_in(session);
}

static void run(struct session *session)
{
	session->turn_ns = now_ns();
	while (!session->outcome) {
		turn(session, turn_ms(session));
		if (!session->outcome)
			look_at_guest(session);
		if (!session->outcome)
			check_time(session);
	}
}

/* Delivers the command's output, lets the guest power off, and makes sure that it is gone. */
static void finish(struct session *session)
{
	int64_t deadline;

	if (strcmp(session->outcome, "finished") == 0)
		carriers_finish(session->carriers);
	deadline = now_ns() + POWER_OFF_NS;
	while (strcmp(session->outcome, "finished") == 0 && !session->kernel.ended &&
	       now_ns() < deadline)
		turn(session, 100);
	kernel_kill(&session->kernel);
	log_read(&session->log);
}

static int open_log(struct session *session)
{
	int log[2];

	if (pipe2(log, O_CLOEXEC | O_NONBLOCK))
		fail("pipe");
	fcntl(log[0], F_SETPIPE_SZ, 1 << 20);
	session->log.descriptor = log[0];
	return log[1];
}

/* Returns the kernel's end. */
static int open_socket(int *ours)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		fail("socketpair");
	*ours = pair[0];
	return pair[1];
}

static void start(struct session *session)
{
	struct ends ends = {
	    .doorbell = open_socket(&session->doorbell),
	    .monitor = open_socket(&session->monitor),
	    .log = open_log(session),
	};

	session->channel = channel_create(session->options, &ends.memory);
	session->signals = watch_signals();
	/* A window that changes from here on is reported by a signal. */
	terminal_describe(session->channel);
	session->started_ns = now_ns();
	if (!kernel_start(&session->kernel, session->options, &ends))
		session->outcome = "not-executed";
	ends_close(&ends);
	terminal_make_raw(&session->channel->request);
	carrier_start(session->carriers, session->channel, session->doorbell);
}

/* The standard descriptors are the command's. The relay's must not take a closed one's number. */
static void hold_standard_descriptors(void)
{
	int descriptor;

	do
		descriptor = open("/dev/null", O_RDWR | O_CLOEXEC);
	while (descriptor >= 0 && descriptor < 10);
	close(descriptor);
}

int main(int count, char **arguments)
{
	struct options options = options_parse(count, arguments);
	struct session session = {.options = &options, .stand_in = options.signals};
	struct ending ending;

	follow_parent(options.parent);
	hold_standard_descriptors();
	start(&session);
	run(&session);
	finish(&session);
	terminal_restore();
	ending = (struct ending){
	    .outcome = session.outcome,
	    .interrupted_by = session.interrupted_by,
	    .boot_ns = session.command_ns ? session.command_ns - session.started_ns : 0,
	};
	report_write(options.report, &ending, &session.kernel, session.channel, &session.log);
	_exit(EXIT_SUCCESS);
}
