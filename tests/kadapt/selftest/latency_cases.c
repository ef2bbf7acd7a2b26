// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How long other processes wait for the processor, by the guest's clock. The host may
 * stop the guest at any time, which can only make a wait longer. So a case judges the
 * second-shortest wait of its rounds. If the driver did not end the quantum, the wait
 * would be ten times the bound.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device.h"
#include "harness.h"
#include "neighbour.h"

#define ROUNDS 5
#define QUANTUM (5 * NS_PER_S)
#define AFTERWARDS (500 * NS_PER_MS)

/*
 * Two processes with default slices take turns at ticks: each waits a tick or two, and
 * may read the clock late after that.
 */
static int64_t normal_wait(void)
{
	return 3 * tick();
}

struct waits {
	int64_t in_phase;
	int64_t after;
};

/* What the adapted process does, and the control group of its neighbour. */
struct course {
	int (*compute)(void);
	int (*end)(int device);
	const char *neighbours_group;
};

/* How long the thread runs without a switch. Most of its quantum is left then. */
static int64_t part_of_quantum(void)
{
	return quantum_up_to(QUANTUM) > NS_PER_S ? 150 * NS_PER_MS : 50 * NS_PER_MS;
}

/* One round: ends the phase in the middle of a quantum, and computes on. */
static int round_beside(struct neighbour *neighbour, const struct course *course,
			struct waits *waits)
{
	int64_t begun, ended;
	int device = open_device();

	if (define(device, 0, quantum_up_to(QUANTUM)))
		return -1;
	begun = now();
	if (enter(device, 0))
		return -1;
	if (course->compute() || course->end(device))
		return -1;
	ended = now();
	spin_for(AFTERWARDS);
	waits->in_phase = neighbour_longest_wait(neighbour, begun, ended);
	/* From two ticks after the phase on, both processes wait as any two processes do. */
	waits->after = neighbour_longest_wait(neighbour, ended + 2 * tick(), now());
	close(device);
	return 0;
}

/* Sets *result to the second-shortest of the rounds' longest waits. */
static int rounds_beside(const struct course *course, struct waits *result)
{
	struct neighbour *neighbour = neighbour_start(course->neighbours_group);
	int64_t in_phase[ROUNDS], after[ROUNDS];
	struct waits waits = {0};
	int error = neighbour ? 0 : -1;

	for (int i = 0; i < ROUNDS && !error; i++) {
		error = round_beside(neighbour, course, &waits);
		in_phase[i] = waits.in_phase;
		after[i] = waits.after;
	}
	if (neighbour)
		neighbour_stop(neighbour);
	if (error)
		return error;
	result->in_phase = second(in_phase, ROUNDS);
	result->after = second(after, ROUNDS);
	note("neighbour's longest wait: %lld us in the phase, %lld us from two ticks after it on "
	     "(tick %lld us)",
	     (long long)result->in_phase / 1000, (long long)result->after / 1000,
	     (long long)tick() / 1000);
	return 0;
}

static int compute_in_one_go(void)
{
	return spin_unswitched(part_of_quantum());
}

/* For cases in which the scheduler switches to other processes meanwhile. */
static int compute_a_while(void)
{
	spin_for(AFTERWARDS);
	return 0;
}

static int stay(int device)
{
	(void)device;
	return 0;
}

static enum outcome judge(const struct waits *waits)
{
	CHECK(waits->in_phase >= part_of_quantum());
	CHECK(waits->after <= normal_wait());
	return PASSED;
}

static enum outcome test_leave(void)
{
	const struct course course = {.compute = compute_in_one_go, .end = leave};
	struct waits waits;

	if (!has_quantum())
		return skip("this kernel has no quantum");
	CHECK(rounds_beside(&course, &waits) == 0);
	return judge(&waits);
}

static enum outcome test_close(void)
{
	const struct course course = {.compute = compute_in_one_go, .end = close};
	struct waits waits;

	if (!has_quantum())
		return skip("this kernel has no quantum");
	CHECK(rounds_beside(&course, &waits) == 0);
	return judge(&waits);
}

/* If the phase does not end, the same measurement must show long waits. */
static enum outcome test_measurement(void)
{
	const struct course course = {.compute = compute_in_one_go, .end = stay};
	struct waits waits;

	if (!has_quantum())
		return skip("this kernel has no quantum");
	CHECK(rounds_beside(&course, &waits) == 0);
	CHECK(waits.after > 4 * tick());
	return PASSED;
}

#define GROUPS "/sys/fs/cgroup"

static int write_file(const char *name, const char *text)
{
	int file = open(name, O_WRONLY);
	int result = write(file, text, strlen(text)) == (ssize_t)strlen(text) ? 0 : -1;

	close(file);
	return result;
}

static int mount_groups(void)
{
	if (mount("none", GROUPS, "cgroup2", 0, NULL) && errno != EBUSY)
		return -1;
	write_file(GROUPS "/cgroup.subtree_control", "+cpu");
	mkdir(GROUPS "/adapted", 0755);
	mkdir(GROUPS "/other", 0755);
	return access(GROUPS "/adapted/cpu.weight", F_OK);
}

/* Runs the adapted process and its children in one group, the neighbour in the course's group. */
static enum outcome in_group(const struct course *course, struct waits *waits)
{
	int error;

	if (!has_quantum())
		return skip("this kernel has no quantum");
	if (mount_groups() || write_file(GROUPS "/adapted/cgroup.procs", "0"))
		return skip("no CPU control groups here");
	error = rounds_beside(course, waits);
	write_file(GROUPS "/cgroup.procs", "0");
	CHECK(error == 0);
	CHECK(waits->after <= normal_wait());
	return PASSED;
}

static enum outcome test_same_group(void)
{
	const struct course course = {.compute = compute_in_one_go,
				      .end = leave,
				      .neighbours_group = GROUPS "/adapted/cgroup.procs"};
	struct waits waits;
	enum outcome outcome = in_group(&course, &waits);

	return outcome == PASSED ? judge(&waits) : outcome;
}

static enum outcome test_other_group(void)
{
	const struct course course = {.compute = compute_a_while,
				      .end = leave,
				      .neighbours_group = GROUPS "/other/cgroup.procs"};
	struct waits waits;

	return in_group(&course, &waits);
}

/*
 * When a thread goes to sleep, its group gets the shortest slice of the threads that
 * stay. Here only the thread in its phase stays. So when the phase ends, the group must
 * lose the long slice, too.
 */
static pid_t sleeper;

static int compute_beside_sleeper(void)
{
	sleeper = fork();
	while (sleeper == 0)
		sleep_for(2 * NS_PER_MS);
	return compute_a_while();
}

static int leave_sleeper(int device)
{
	kill(sleeper, SIGKILL);
	waitpid(sleeper, NULL, 0);
	return leave(device);
}

static enum outcome test_group_with_long_slice(void)
{
	const struct course course = {.compute = compute_beside_sleeper,
				      .end = leave_sleeper,
				      .neighbours_group = GROUPS "/other/cgroup.procs"};
	struct waits waits;

	return in_group(&course, &waits);
}

/* Kills a process that computes in a phase. Returns the neighbours' longest wait after that. */
static int64_t wait_after_death(struct neighbour *one, struct neighbour *other)
{
	int64_t killed, longest_one, longest_other;
	pid_t pid = fork();

	if (pid == 0) {
		int device = open_device();

		define(device, 0, quantum_up_to(QUANTUM));
		enter(device, 0);
		for (;;)
			spin_for(NS_PER_S);
	}
	sleep_for(AFTERWARDS);
	killed = now();
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	sleep_for(AFTERWARDS);
	longest_one = neighbour_longest_wait(one, killed, now());
	longest_other = neighbour_longest_wait(other, killed, now());
	return longest_one > longest_other ? longest_one : longest_other;
}

static enum outcome test_death(void)
{
	struct neighbour *one = neighbour_start(NULL);
	struct neighbour *other = neighbour_start(NULL);
	int64_t longest[ROUNDS];
	int64_t begin = now(), normal, usual;

	if (!has_quantum())
		return skip("this kernel has no quantum");
	CHECK(one && other);
	sleep_for(AFTERWARDS);
	usual = neighbour_longest_wait(one, begin, now());
	for (int i = 0; i < ROUNDS; i++)
		longest[i] = wait_after_death(one, other);
	neighbour_stop(one);
	neighbour_stop(other);
	normal = second(longest, ROUNDS);
	note("two neighbours' longest wait: %lld us before, %lld us after the death",
	     (long long)usual / 1000, (long long)normal / 1000);
	/* The neighbours first balance what they got unequally while the third process ran. */
	CHECK(normal <= usual + 2 * tick());
	return PASSED;
}

/* Entering repeatedly must not make the quantum longer. */
static enum outcome test_no_extension(void)
{
	struct neighbour *neighbour = neighbour_start(NULL);
	int64_t quantum = 100 * NS_PER_MS;
	int64_t longest[ROUNDS];
	int device = open_device();

	if (!has_quantum())
		return skip("this kernel has no quantum");
	CHECK(neighbour);
	CHECK(define(device, 0, (uint64_t)quantum) == 0);
	CHECK(define(device, 1, (uint64_t)quantum) == 0);
	for (int i = 0; i < ROUNDS; i++) {
		int64_t begin = now();

		while (now() < begin + 10 * quantum)
			CHECK(enter(device, 0) == 0 && enter(device, 1) == 0);
		longest[i] = neighbour_longest_wait(neighbour, begin, now());
	}
	neighbour_stop(neighbour);
	CHECK(second(longest, ROUNDS) <= quantum + 2 * tick());
	return PASSED;
}

struct compute {
	int device;
	atomic_bool stop;
};

static void *compute_in_phase(void *argument)
{
	struct compute *compute = argument;

	enter(compute->device, 0);
	while (!atomic_load(&compute->stop))
		;
	return NULL;
}

#define WAKEUPS 200

static enum outcome test_io_thread(void)
{
	struct compute compute = {.device = open_device()};
	int64_t late[WAKEUPS];
	pthread_t thread;

	if (!has_quantum())
		return skip("this kernel has no quantum");
	CHECK(define(compute.device, 0, quantum_up_to(QUANTUM)) == 0);
	CHECK(pthread_create(&thread, NULL, compute_in_phase, &compute) == 0);
	sleep_for(100 * NS_PER_MS);
	for (int i = 0; i < WAKEUPS; i++) {
		int64_t due = now() + 5 * NS_PER_MS;

		sleep_for(5 * NS_PER_MS);
		late[i] = now() - due;
	}
	atomic_store(&compute.stop, true);
	pthread_join(thread, NULL);
	median(late, WAKEUPS);
	note("woken late by %lld us (median), %lld us (95 of 100)",
	     (long long)late[WAKEUPS / 2] / 1000, (long long)late[WAKEUPS * 95 / 100] / 1000);
	CHECK(late[WAKEUPS * 95 / 100] <= 2 * tick());
	return PASSED;
}

struct ball {
	atomic_int holder;
	atomic_long exchanges;
};

static void play(struct ball *ball, int me, int64_t duration)
{
	int64_t end = now() + duration;

	while (now() < end) {
		if (atomic_load(&ball->holder) != me)
			continue;
		atomic_fetch_add(&ball->exchanges, 1);
		atomic_store(&ball->holder, !me);
	}
}

/* Two processes take turns and spin in between. Returns the number of turns; -1 on error. */
static long exchanges(bool in_phases)
{
	struct ball *ball = shared_memory(sizeof(*ball));
	pid_t pid = fork();
	int device = open_device();

	if (in_phases && (define(device, 0, 0) || enter(device, 0)))
		atomic_store(&ball->holder, -1);
	play(ball, pid == 0, NS_PER_S);
	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	close(device);
	return atomic_load(&ball->holder) < 0 ? -1 : atomic_load(&ball->exchanges);
}

static enum outcome test_spinners(void)
{
	int64_t plain[ROUNDS], adapted[ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		plain[i] = exchanges(false);
		adapted[i] = exchanges(true);
	}
	note("%lld exchanges in 1 s plain, %lld in a phase without quantum",
	     (long long)median(plain, ROUNDS), (long long)median(adapted, ROUNDS));
	CHECK(median(plain, ROUNDS) > 0);
	CHECK(median(adapted, ROUNDS) >= median(plain, ROUNDS) * 3 / 4);
	return PASSED;
}

/* Prints what it costs to enter a phase, and the call that this replaces. Judges neither. */
static enum outcome test_cost(void)
{
	const int calls = 20000;
	int device = open_device();
	int64_t begin, phases, setattr;

	CHECK(define(device, 0, has_quantum() ? 3 * NS_PER_MS : 0) == 0);
	CHECK(define(device, 1, has_quantum() ? 20 * NS_PER_MS : 0) == 0);
	begin = now();
	for (int i = 0; i < calls; i++)
		CHECK(enter(device, i & 1) == 0);
	phases = now() - begin;
	CHECK(leave(device) == 0);
	begin = now();
	for (int i = 0; i < calls; i++)
		CHECK(set_slice(i & 1 ? 20 * NS_PER_MS : 3 * NS_PER_MS) == 0);
	setattr = now() - begin;
	note("to enter a phase: %lld ns, sched_setattr: %lld ns", (long long)phases / calls,
	     (long long)setattr / calls);
	return PASSED;
}

const struct test_case latency_cases[] = {
    {"latency_measurement", "a phase that goes on is seen", test_measurement},
    {"latency_leave", "two ticks after leaving all is as before", test_leave},
    {"latency_close", "two ticks after closing, too", test_close},
    {"latency_death", "and after the death of the process", test_death},
    {"latency_same_group", "the same inside a CPU control group", test_same_group},
    {"latency_other_group", "and towards another group", test_other_group},
    {"latency_long_group", "and when the group holds a long slice", test_group_with_long_slice},
    {"latency_no_extension", "entering again and again gains nothing", test_no_extension},
    {"latency_io_thread", "a thread doing I/O beside a long quantum", test_io_thread},
    {"latency_spinners", "two spinning processes are no slower", test_spinners},
    {"latency_cost", "what a phase costs", test_cost},
    {0},
};
