// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Everything that is interposed: records are put into a ring, the call is made,
 * and the kernel is asked, past the library, whether they have arrived.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "device.h"
#include "libkadapt.h"
#include "sink.h"

extern char **environ;

static void spare_descriptor(struct sink *sink, int (*function)(int, int))
{
	int spare = open("/dev/null", O_RDONLY);

	function(sink->writer, spare);
	close(spare);
}

static void duplicate_over(struct sink *sink)
{
	int spare = open("/dev/null", O_WRONLY);

	dup2(spare, sink->writer);
	close(spare);
}

static void pass_on(struct sink *sink)
{
	char control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec byte = {.iov_base = "x", .iov_len = 1};
	struct msghdr message = {.msg_iov = &byte,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = sizeof(control)};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	int pair[2];

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &sink->writer, sizeof(int));
	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	sendmsg(pair[0], &message, 0);
}

static void *return_at_once(void *argument)
{
	return argument;
}

static void join(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, return_at_once, NULL);
	pthread_join(thread, NULL);
}

static void wait_for_condition(void)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
	const struct timespec past = {0};

	pthread_mutex_lock(&mutex);
	pthread_cond_timedwait(&condition, &mutex, &past);
	pthread_mutex_unlock(&mutex);
}

static void wait_for_semaphore(void)
{
	sem_t semaphore;

	sem_init(&semaphore, 0, 1);
	sem_wait(&semaphore);
}

static void pass_barrier(void)
{
	pthread_barrier_t barrier;

	pthread_barrier_init(&barrier, NULL, 1);
	pthread_barrier_wait(&barrier);
}

static void spawn(void)
{
	char *const words[] = {"true", NULL};
	pid_t process;

	if (!posix_spawnp(&process, "true", NULL, NULL, words, environ))
		waitpid(process, NULL, 0);
}

static void spawn_borrowing(void)
{
	if (vfork() == 0)
		_exit(0);
}

static void fork_and_wait(void)
{
	if (fork() == 0)
		_exit(0);
}

static void read_command(void)
{
	FILE *command = popen("true", "r");

	if (command)
		pclose(command);
}

static void poll_nothing(void)
{
	poll(NULL, 0, 0);
}

static void wait_for_events(void)
{
	int set = epoll_create1(0);
	struct epoll_event event;

	epoll_wait(set, &event, 1, 0);
}

static void read_null(void)
{
	int null = open("/dev/null", O_RDONLY);

	if (read(null, &(char){0}, 1) < 0)
		perror("read");
}

static void map(struct sink *sink)
{
	mmap(NULL, 1, PROT_READ, MAP_SHARED, sink->writer, 0);
}

static void raise_limit(void)
{
	struct rlimit limit;

	getrlimit(RLIMIT_FSIZE, &limit);
	setrlimit(RLIMIT_FSIZE, &limit);
}

static void nap(void)
{
	const struct timespec time = {.tv_nsec = 1};

	nanosleep(&time, NULL);
}

static void nap_by_clock(void)
{
	const struct timespec time = {.tv_nsec = 1};

	clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

/* (name, on files only, what is done) */
#define CALLS(CALL)                                                                                \
	CALL(fsync, 1, fsync(sink->writer))                                                        \
	CALL(fdatasync, 1, fdatasync(sink->writer))                                                \
	CALL(sync_file_range, 1, sync_file_range(sink->writer, 0, 0, 0))                           \
	CALL(syncfs, 1, syncfs(sink->writer))                                                      \
	CALL(lseek, 1, lseek(sink->writer, 0, SEEK_CUR))                                           \
	CALL(lseek64, 1, lseek64(sink->writer, 0, SEEK_CUR))                                       \
	CALL(pread, 1, arrived += pread(sink->writer, sink->text, 1, 0))                           \
	CALL(fstat, 0, fstat(sink->writer, &status))                                               \
	CALL(stat, 1, stat(sink->path, &status))                                                   \
	CALL(lstat, 1, lstat(sink->path, &status))                                                 \
	CALL(fstatat, 1, fstatat(AT_FDCWD, sink->path, &status, 0))                                \
	CALL(statx, 1, statx(AT_FDCWD, sink->path, 0, STATX_SIZE, &extended))                      \
	CALL(ftruncate, 1, arrived += ftruncate(sink->writer, 30))                                 \
	CALL(fallocate, 1, fallocate(sink->writer, FALLOC_FL_KEEP_SIZE, 0, 30))                    \
	CALL(futimens, 1, futimens(sink->writer, NULL))                                            \
	CALL(fchmod, 1, fchmod(sink->writer, 0600))                                                \
	CALL(mmap, 1, map(sink))                                                                   \
	CALL(flock, 1, flock(sink->writer, LOCK_SH))                                               \
	CALL(fcntl_lock, 1, fcntl(sink->writer, F_GETLK, &lock))                                   \
	CALL(copy_file_range, 1, copy_file_range(sink->writer, &start, sink->writer, &far, 1, 0))  \
	CALL(fcntl_flags, 0, fcntl(sink->writer, F_SETFL, O_RDWR))                                 \
	CALL(fcntl_duplicate, 0, fcntl(sink->writer, F_DUPFD, 100))                                \
	CALL(dup, 0, arrived += 0 * dup(sink->writer))                                             \
	CALL(dup2, 0, spare_descriptor(sink, dup2))                                                \
	CALL(dup2_over, 0, duplicate_over(sink))                                                   \
	CALL(close, 0, close(sink->writer))                                                        \
	CALL(close_range, 0, close_range((unsigned)sink->writer, (unsigned)sink->writer, 0))       \
	CALL(ioctl, 0, ioctl(sink->writer, FIONBIO, &(int){0}))                                    \
	CALL(sendmsg_rights, 0, pass_on(sink))                                                     \
	CALL(write_nothing, 0, arrived += kadapt_write(sink->writer, "", 0))                       \
	CALL(read_other, 0, read_null())                                                           \
	CALL(poll, 0, poll_nothing())                                                              \
	CALL(select, 0, select(0, NULL, NULL, NULL, &moment))                                      \
	CALL(epoll_wait, 0, wait_for_events())                                                     \
	CALL(sched_yield, 0, sched_yield())                                                        \
	CALL(nanosleep, 0, nap())                                                                  \
	CALL(clock_nanosleep, 0, nap_by_clock())                                                   \
	CALL(usleep, 0, usleep(1))                                                                 \
	CALL(sleep, 0, sleep(0))                                                                   \
	CALL(sem_wait, 0, wait_for_semaphore())                                                    \
	CALL(pthread_join, 0, join())                                                              \
	CALL(pthread_cond_timedwait, 0, wait_for_condition())                                      \
	CALL(pthread_barrier_wait, 0, pass_barrier())                                              \
	CALL(kill, 0, kill(getpid(), 0))                                                           \
	CALL(raise, 0, raise(SIGCONT))                                                             \
	CALL(wait, 0, wait(NULL))                                                                  \
	CALL(fork, 0, fork_and_wait())                                                             \
	CALL(vfork, 0, spawn_borrowing())                                                          \
	CALL(posix_spawn, 0, spawn())                                                              \
	CALL(system, 0, arrived += 0 * system("true"))                                             \
	CALL(popen, 0, read_command())                                                             \
	CALL(setrlimit, 0, raise_limit())                                                          \
	CALL(seteuid, 0, arrived += seteuid(geteuid()))

#define DEFINE(name, is_for_files, statement)                                                      \
	static void call_##name(struct sink *sink)                                                 \
	{                                                                                          \
		struct stat status __attribute__((unused));                                        \
		struct statx extended __attribute__((unused));                                     \
		struct flock lock __attribute__((unused)) = {.l_type = F_RDLCK};                   \
		struct timeval moment __attribute__((unused)) = {0};                               \
		off64_t start __attribute__((unused)) = 0, far __attribute__((unused)) = 4096;     \
		long arrived __attribute__((unused)) = 0;                                          \
                                                                                                   \
		(void)sink;                                                                        \
		statement;                                                                         \
	}
CALLS(DEFINE)

#define ROW(name, is_for_files, statement) {#name, is_for_files, call_##name},
static const struct {
	const char *name;
	int is_for_files;
	void (*call)(struct sink *sink);
} calls[] = {CALLS(ROW)};

#define CALL_COUNT ((int)(sizeof(calls) / sizeof(*calls)))

struct attempt {
	int number;
	enum sink_kind kind;
};

/* In a process of its own, because some of the calls change it. */
static int records_arrive(void *argument)
{
	const struct attempt *attempt = argument;
	struct sink sink;

	CHECK(kadapt_enter(SLOW_PHASE) == 0);
	CHECK(sink_open(&sink, attempt->kind) == 0);
	CHECK(sink_fill(&sink) == 0);
	calls[attempt->number].call(&sink);
	CHECK(sink_arrived(&sink) >= 3 * RECORD_BYTES);
	unlink(sink.path);
	return PASSED;
}

static enum outcome try_all(enum sink_kind kind)
{
	enum outcome outcome = PASSED;

	for (int i = 0; i < CALL_COUNT; i++) {
		struct attempt attempt = {.number = i, .kind = kind};

		if (calls[i].is_for_files && kind != SINK_FILE)
			continue;
		if (in_child(records_arrive, &attempt) == PASSED)
			continue;
		note("%s: records did not arrive after %s", sink_names[kind], calls[i].name);
		outcome = FAILED;
	}
	return outcome;
}

static enum outcome test_file(void)
{
	return try_all(SINK_FILE);
}

static enum outcome test_pipe(void)
{
	return try_all(SINK_PIPE);
}

static enum outcome test_unix(void)
{
	return try_all(SINK_UNIX);
}

static enum outcome test_tcp(void)
{
	return try_all(SINK_TCP);
}

const struct test_case settle_cases[] = {
    {"settle_file", "every interposed call finds what was written to a file", test_file},
    {"settle_pipe", "and to a pipe", test_pipe},
    {"settle_unix", "and to a UNIX socket", test_unix},
    {"settle_tcp", "and to a TCP socket", test_tcp},
    {0},
};
