// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A guest process that may only use the cycles that a host process leaves.
 *
 *	linger WAY MILLISECONDS TURNS
 *
 * The host computes MILLISECONDS, then computes 3 ms and sleeps 7 ms TURNS times. WAY says how the
 * guest runs meanwhile. Prints "NAME VALUE" lines.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LOOPS_PER_MS 500000 /* of two instructions, in a guest whose instructions take 1 ns */
#define COMPUTE_MS 3
#define SLEEP_MS 7
#define ALONE_MS 100
#define GROUP "/tmp/groups/guest"

static volatile uint64_t *progress; /* the guest's turns, in memory that both see */

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static int64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static double ms_since(int64_t begin_ns)
{
	return (double)(now_ns() - begin_ns) / 1e6;
}

static void compute(int ms)
{
	for (uint64_t left = (uint64_t)ms * LOOPS_PER_MS; left; left--)
		__asm__ volatile("" : "+r"(left));
}

/* Nanoseconds from the timer's expiry until the process runs. */
static int64_t sleep_ms(int ms)
{
	int64_t end_ns = now_ns() + ms * 1000000LL;
	struct timespec end = {end_ns / 1000000000, end_ns % 1000000000};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) == EINTR)
		;
	return now_ns() - end_ns;
}

/* ---- the guest ------------------------------------------------------------------------------ */

static void take_nice(int level)
{
	if (setpriority(PRIO_PROCESS, 0, level))
		fail("setpriority");
}

static void take_idle(void)
{
	struct sched_param none = {0};

	if (sched_setscheduler(0, SCHED_IDLE, &none))
		fail("sched_setscheduler");
}

static void write_file(const char *path, const char *text)
{
	int file = open(path, O_WRONLY);

	if (file < 0 || write(file, text, strlen(text)) < 0)
		fail(path);
	close(file);
}

/* The script made the control group. */
static void take_group(void)
{
	write_file(GROUP "/cpu.idle", "1");
	write_file(GROUP "/cgroup.procs", "0");
}

static void take_way(const char *way)
{
	if (!strcmp(way, "nice19"))
		take_nice(19);
	else if (!strncmp(way, "idle", 4))
		take_idle();
	else if (!strcmp(way, "group"))
		take_group();
	else if (strcmp(way, "nice0"))
		fail(way);
	if (!strcmp(way, "idle-session") && setsid() < 0)
		fail("setsid");
}

static pid_t start_guest(const char *way)
{
	pid_t guest;

	if (!strcmp(way, "none"))
		return 0;
	guest = fork();
	if (guest)
		return guest;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	take_way(way);
	for (;;)
		++*progress;
}

static void end_guest(pid_t guest)
{
	if (!guest)
		return;
	kill(guest, SIGKILL);
	waitpid(guest, NULL, 0);
}

/* ---- the host ------------------------------------------------------------------------------- */

static double alone_per_ms(void)
{
	uint64_t before;
	int64_t begin;

	sleep_ms(10); /* the guest starts */
	before = *progress;
	begin = now_ns();
	sleep_ms(ALONE_MS);
	return (double)(*progress - before) / ms_since(begin);
}

static double percent(double value, double of)
{
	return of > 0 ? 100 * value / of : 0;
}

static void print_steady(int ms)
{
	int64_t begin = now_ns();

	compute(ms);
	printf("steady_ms %.4f\n", ms_since(begin));
}

static int by_size(const void *one, const void *other)
{
	int64_t a = *(const int64_t *)one, b = *(const int64_t *)other;

	return (a > b) - (a < b);
}

static void print_turns(int turns, double per_ms)
{
	int64_t *late_ns = calloc((size_t)turns, sizeof(*late_ns));
	uint64_t before = *progress;
	int64_t begin = now_ns();

	if (!late_ns)
		fail("calloc");
	for (int turn = 0; turn < turns; turn++) {
		compute(COMPUTE_MS);
		late_ns[turn] = sleep_ms(SLEEP_MS);
	}
	printf("turns_ms %.4f\n", ms_since(begin));
	printf("idle_percent %.3f\n",
	       percent((double)(*progress - before), per_ms * SLEEP_MS * turns));
	qsort(late_ns, (size_t)turns, sizeof(*late_ns), by_size);
	printf("median_us %.3f\n", (double)late_ns[turns / 2] / 1000);
	printf("worst_us %.3f\n", (double)late_ns[turns - 1] / 1000);
	free(late_ns);
}

int main(int count, char **words)
{
	double per_ms;
	pid_t guest;

	if (count != 4)
		return 1;
	prctl(PR_SET_TIMERSLACK, 1); /* else the timer may expire 50 us late */
	progress = mmap(NULL, sizeof(*progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	if (progress == MAP_FAILED)
		fail("mmap");
	guest = start_guest(words[1]);
	per_ms = alone_per_ms();
	print_steady(atoi(words[2]));
	print_turns(atoi(words[3]), per_ms);
	end_guest(guest);
	return 0;
}
