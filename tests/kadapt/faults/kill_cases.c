// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writers that are killed at any point. A writer tells another process of each accepted record.
 * When wait(2) returns, the file has all of these records, in order, none twice and none torn. It
 * has at most one more: the writer was killed before it could tell of that one.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "device.h"
#include "faults.h"
#include "writer.h"

#define MOST_RECORDS 20000
#define SHORTEST_OF_LIVES_NS (12 * NS_PER_MS)
#define RECORDS_OF_A_LIFE 4000
#define LONGEST_SPIN 100000
#define SIZES 7 /* of records: 16 bytes to 1 KiB */

/* The sums of all writers of a case. */
struct tally {
	uint64_t kills, told, ringed, bound;
	int unbound;
};

/* The figures of one writer. */
struct victim {
	struct sink sink;
	struct sequence sequence;
	struct progress *progress;
	pid_t pid;
	uint64_t dice;
};

/* A writer lives at most this long. Emulated machines with checkers are slow. */
static uint64_t longest_life_ns;

/* A timer in the kernel kills the writer, at any instruction. */
static void kill_me_within(uint64_t nanoseconds)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
	struct itimerspec when = {
	    .it_value.tv_sec = (time_t)(nanoseconds / NS_PER_S),
	    .it_value.tv_nsec = (long)(nanoseconds % NS_PER_S),
	};
	timer_t timer;

	if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &when, NULL))
		_exit(FAILED);
}

static void write_until_killed(struct victim *victim, bool by_timer)
{
	struct writer writer;

	if (writer_begin(&writer, &victim->sink, victim->progress, &victim->sequence))
		_exit(FAILED);
	if (by_timer)
		kill_me_within(1 + dice_below(&victim->dice, longest_life_ns));
	writer_write(&writer, MOST_RECORDS);
	for (;;)
		pause();
}

static void kill_writer(struct victim *victim)
{
	while (!atomic_load(&victim->progress->begun))
		sleep_for(NS_PER_MS);
	sleep_for((int64_t)dice_below(&victim->dice, longest_life_ns));
	dice_spin(&victim->dice, LONGEST_SPIN);
	kill(victim->pid, SIGKILL);
}

static bool was_killed(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		return false;
	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
		note("the writer ended with status %#x instead of being killed", status);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

static bool outlived(struct victim *victim, bool by_timer)
{
	struct seen seen = {.sequence = &victim->sequence};

	if (!by_timer)
		kill_writer(victim);
	if (!was_killed(victim->pid) || sink_open_written(&victim->sink))
		return false;
	seen_file(&seen, victim->sink.read_end);
	return seen_all(&seen, atomic_load(&victim->progress->told));
}

static bool kill_one(uint64_t seed, struct progress *progress)
{
	struct path path = in_directory("records");
	struct victim victim = {
	    .sink = sink_at(path.text),
	    .progress = progress,
	    .dice = seed,
	};
	bool by_timer, right;

	memset(progress, 0, sizeof(*progress));
	victim.sequence.size = (size_t)16 << dice_below(&victim.dice, SIZES);
	victim.sequence.seed = dice(&victim.dice);
	by_timer = dice(&victim.dice) & 1;
	victim.pid = fork();
	if (victim.pid == 0)
		write_until_killed(&victim, by_timer);
	right = victim.pid > 0 && outlived(&victim, by_timer);
	sink_close(&victim.sink);
	return right;
}

static void count(struct tally *tally, const struct progress *progress)
{
	tally->kills++;
	tally->told += atomic_load(&progress->told);
	tally->ringed += atomic_load(&progress->ringed);
	tally->bound += atomic_load(&progress->bound);
	if (atomic_load(&progress->unbound))
		tally->unbound = atomic_load(&progress->unbound);
}

static int write_some(void *unused)
{
	static struct progress progress;
	const struct sequence sequence = {.size = 64, .seed = setting.seed};
	struct path path = in_directory("records");
	struct writer writer;
	struct sink sink = sink_at(path.text);

	(void)unused;
	if (writer_begin(&writer, &sink, &progress, &sequence))
		return FAILED;
	writer_write(&writer, RECORDS_OF_A_LIFE);
	return PASSED;
}

/* The time that this many records take on this machine. */
static int measure_a_life(void)
{
	int64_t begin = now();

	if (in_child(write_some, NULL))
		return -1;
	longest_life_ns = (uint64_t)(now() - begin);
	if (longest_life_ns < SHORTEST_OF_LIVES_NS)
		longest_life_ns = SHORTEST_OF_LIVES_NS;
	return 0;
}

static enum outcome kill_writers(void)
{
	struct progress *progress = shared_memory(sizeof(*progress));
	struct tally tally = {0};

	alarm(0);
	CHECK(progress && measure_a_life() == 0);
	for (uint64_t i = 0; i < setting.kills; i++) {
		CHECK(kill_one(setting.seed * 1000003 + i, progress));
		count(&tally, progress);
	}
	note("%lu writers killed, %lu records told of, %lu of them by a ring, %lu bindings%s%s",
	     (unsigned long)tally.kills, (unsigned long)tally.told, (unsigned long)tally.ringed,
	     (unsigned long)tally.bound, tally.unbound ? ", some refused with " : "",
	     tally.unbound ? strerrorname_np(tally.unbound) : "");
	CHECK(tally.ringed > tally.told / 2);
	return PASSED;
}

const struct test_case kill_cases[] = {
    {"kill_file", "a killed writer's records are in the file when it was waited for", kill_writers},
    {0},
};
