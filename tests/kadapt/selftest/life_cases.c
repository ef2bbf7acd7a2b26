// SPDX-License-Identifier: GPL-2.0-or-later
/* What can happen to the descriptor, the process or the disk while a ring is bound. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device.h"
#include "harness.h"
#include "ring.h"

#define LONG_DELAY 1000000000ULL
#define NAME "life.out"
#define MANY 64

static int fresh_file(void)
{
	return open_scratch(NAME, O_RDWR | O_CREAT | O_TRUNC);
}

static bool holds(int file, const char *text)
{
	char found[256] = "";
	ssize_t length = pread(file, found, sizeof(found) - 1, 0);

	return length == (ssize_t)strlen(text) && !strcmp(found, text);
}

static void wait_until_unbound(const struct test_ring *ring)
{
	for (int i = 0; i < 2000 && ring_is_bound(ring); i++)
		sleep_for(NS_PER_MS);
}

/* Another file takes the descriptor's number: accepted records go to the first file. */
static enum outcome test_dup2_over(void)
{
	struct test_ring ring;
	int file = fresh_file();
	int other = open_scratch("other.out", O_RDWR | O_CREAT | O_TRUNC);
	int again;

	CHECK(ring_open(&ring, 0) == 0 && ring_bind(&ring, file) == 0);
	CHECK(ring_append(&ring, "first", 5));
	CHECK(dup2(other, file) == file);
	wait_until_unbound(&ring);
	CHECK(!ring_is_bound(&ring));
	again = open_scratch(NAME, O_RDONLY);
	CHECK(holds(again, "first") && holds(other, ""));
	close(other);
	CHECK(ring_bind(&ring, file) == 0);
	CHECK(ring_append(&ring, "second", 6));
	CHECK(ring_unbind(&ring) == 0);
	CHECK(holds(file, "second") && holds(again, "first"));
	return PASSED;
}

static enum outcome test_close_range(void)
{
	struct test_ring ring;
	int file = fresh_file();

	CHECK(ring_open(&ring, 0) == 0 && ring_bind_for(&ring, file, LONG_DELAY) == 0);
	CHECK(ring_append(&ring, "all", 3));
	CHECK(close_range(3, ~0U, 0) == 0);
	CHECK(ring.header->limit == 0);
	CHECK(holds(open_scratch(NAME, O_RDONLY), "all"));
	return PASSED;
}

static int send_descriptor(int socket, int descriptor)
{
	union {
		char space[CMSG_SPACE(sizeof(int))];
		struct cmsghdr alignment;
	} control = {0};
	struct iovec byte = {"x", 1};
	struct msghdr message = {
	    .msg_iov = &byte,
	    .msg_iovlen = 1,
	    .msg_control = &control,
	    .msg_controllen = sizeof(control),
	};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
	return sendmsg(socket, &message, 0) == 1 ? 0 : -1;
}

/* Once the open file is shared, the ring accepts nothing; accepted records are drained. */
static enum outcome test_passed_on(void)
{
	struct test_ring ring;
	int file = fresh_file();
	int ends[2];

	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	CHECK(ring_open(&ring, 0) == 0 && ring_bind_for(&ring, file, LONG_DELAY) == 0);
	CHECK(ring_append(&ring, "before", 6));
	CHECK(send_descriptor(ends[0], file) == 0);
	CHECK(ring_drain(&ring) == 0);
	CHECK(holds(file, "before"));
	CHECK(!ring_append(&ring, "x", 1));
	CHECK(ring_unbind(&ring) == 0);
	CHECK_ERRNO(ring_bind(&ring, file), ENOTUNIQ);
	return PASSED;
}

static int write_through_parent(void *argument)
{
	return write(*(int *)argument, "child ", 6) == 6 ? 0 : 1;
}

static enum outcome test_fork(void)
{
	struct test_ring ring;
	int file = fresh_file();

	CHECK(ring_open(&ring, 0) == 0 && ring_bind_for(&ring, file, LONG_DELAY) == 0);
	CHECK(ring_append(&ring, "parent ", 7));
	CHECK(in_child(write_through_parent, &file) == 0);
	CHECK(!ring_is_bound(&ring) && ring_bind_for(&ring, file, LONG_DELAY) == 0);
	CHECK(ring_append(&ring, "again", 5));
	CHECK(ring_unbind(&ring) == 0);
	CHECK(holds(file, "parent child again"));
	return PASSED;
}

/* A child of vfork() uses its parent's memory, but must not use its parent's ring. */
static enum outcome test_vfork(void)
{
	static struct test_ring ring;
	int file = fresh_file();
	int status;
	pid_t child;

	CHECK(ring_open(&ring, 0) == 0 && ring_bind_for(&ring, file, LONG_DELAY) == 0);
	CHECK(ring_append(&ring, "mine", 4));
	child = vfork();
	if (child == 0)
		_exit(ring_drain(&ring) == -1 && errno == EPERM ? 0 : 1);
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	CHECK(!ring_is_bound(&ring) && holds(file, "mine"));
	return PASSED;
}

static void *exit_soon(void *unused)
{
	sleep_for(NS_PER_MS);
	return unused;
}

/* Threads end while the process is killed. */
static int killed_with_threads(void *argument)
{
	struct test_ring ring;
	pthread_t thread;
	int delay = *(int *)argument;
	int file = fresh_file();

	if (ring_open(&ring, 0) || ring_bind_for(&ring, file, LONG_DELAY))
		return 1;
	for (int i = 0; i < 8; i++)
		if (pthread_create(&thread, NULL, exit_soon, NULL))
			return 1;
	if (!ring_append(&ring, "all of it", 9))
		return 1;
	sleep_for(delay * NS_PER_US);
	kill(getpid(), SIGKILL);
	return 1;
}

static enum outcome test_group_exit(void)
{
	for (int delay = 0; delay < 2000; delay += 100) {
		int file;

		CHECK(in_child(killed_with_threads, &delay) == -1);
		file = open_scratch(NAME, O_RDONLY);
		CHECK(holds(file, "all of it"));
		close(file);
	}
	return PASSED;
}

static enum outcome test_many(void)
{
	static struct test_ring rings[MANY];
	static int files[MANY];
	char name[32];

	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "many.%d", i);
		files[i] = open_scratch(name, O_RDWR | O_CREAT | O_TRUNC);
		rings[i].device = i ? rings[0].device : open_device();
		rings[i].shape.bytes = 4096;
		CHECK(ioctl(rings[i].device, KADAPT_RING, &rings[i].shape) == 0);
		CHECK(ring_map(&rings[i]) == 0);
		CHECK(ring_bind_for(&rings[i], files[i], LONG_DELAY) == 0);
		CHECK(ring_append(&rings[i], name, strlen(name)));
	}
	CHECK(ioctl(rings[0].device, KADAPT_DRAIN, (long)KADAPT_DRAIN_ALL) == 0);
	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "many.%d", i);
		CHECK(holds(files[i], name));
	}
	return PASSED;
}

/* A file system of 256 KiB: accepted records reach the file, write(2) refuses the rest. */
static enum outcome test_disk_full(void)
{
	static const char block[1024] = "k";
	char folder[64], name[80];
	struct test_ring ring;
	struct stat about;
	int file, appended = 0;

	snprintf(folder, sizeof(folder), "%s/small", scratch_folder());
	mkdir(folder, 0700);
	CHECK(mount("tmpfs", folder, "tmpfs", 0, "size=256k") == 0);
	snprintf(name, sizeof(name), "%s/file", folder);
	file = open(name, O_RDWR | O_CREAT, 0600);
	CHECK(ring_open(&ring, 0) == 0);
	CHECK(ring_bind_for(&ring, file, LONG_DELAY) == 0);
	for (int i = 0; i < 1000; i++) {
		if (!ring_append(&ring, block, sizeof(block))) {
			CHECK(ring_drain(&ring) == 0);
			if (!ring_append(&ring, block, sizeof(block)))
				break;
		}
		appended++;
	}
	CHECK(ring_drain(&ring) == 0);
	CHECK(fstat(file, &about) == 0 && about.st_size == appended * 1024L);
	CHECK(appended == 256);
	CHECK_ERRNO(write(file, block, sizeof(block)), ENOSPC);
	CHECK(ring_unbind(&ring) == 0 && ring.header->dropped == 0);
	close(file);
	umount(folder);
	return PASSED;
}

/* As with write(2), a process without the privilege to keep the set-user-ID bit clears it. */
static int write_as_nobody(void *argument)
{
	struct test_ring ring;
	int file;

	(void)argument;
	if (ring_open(&ring, 0) || setuid(65534))
		return 1;
	file = open_scratch(NAME, O_RDWR);
	if (file < 0 || ring_bind_for(&ring, file, 10 * NS_PER_MS) ||
	    !ring_append(&ring, "text", 4))
		return 2;
	/* Wait for the worker, which has all privileges, to drain the ring. */
	while (ring_pending(&ring))
		;
	return 0;
}

static enum outcome test_set_user_id(void)
{
	struct stat about;
	int file = fresh_file();

	CHECK(fchown(file, 65534, 65534) == 0 && fchmod(file, 04777) == 0);
	close(file);
	CHECK(in_child(write_as_nobody, NULL) == 0);
	file = open_scratch(NAME, O_RDONLY);
	CHECK(fstat(file, &about) == 0 && holds(file, "text"));
	CHECK((about.st_mode & 07777) == 0777);
	return PASSED;
}

static int64_t time_of_drain(const struct test_ring *ring, int64_t longest)
{
	const int64_t start = now();

	while (ring_pending(ring) && now() - start < longest)
		;
	return now() - start;
}

#define DRAINS 20
/* The host, too, may let others run: some drains are late for that. */
#define IN_TIME (3 * DRAINS / 4)

/* A thread that may hold the processor for seconds does not delay the drain. */
static enum outcome drain_beside_a_quantum(int64_t delay, int64_t pause)
{
	const int64_t quantum = 5 * NS_PER_S, promised = KADAPT_FILE_DELAY_NS + 3 * tick();
	struct test_ring ring;
	int file = fresh_file(), in_time = 0;
	int64_t longest = 0, taken;

	if (!has_quantum())
		return skip("this kernel has no quantum");
	CHECK(ring_open(&ring, 0) == 0);
	CHECK(define(ring.device, 0, quantum_up_to(quantum)) == 0);
	CHECK(enter(ring.device, 0) == 0);
	for (int i = 0; i < DRAINS; i++) {
		spin_for(pause);
		/* A ring that the host kept idle is unbound. */
		while (!ring_append(&ring, "x", 1))
			CHECK(ring_bind_for(&ring, file, delay) == 0);
		taken = time_of_drain(&ring, quantum);
		in_time += taken < promised;
		if (taken > longest)
			longest = taken;
	}
	note("drained after %lld us at the latest, tick %lld us, %d in time",
	     (long long)longest / NS_PER_US, (long long)tick() / NS_PER_US, in_time);
	CHECK(in_time >= IN_TIME && longest < quantum / 2);
	return PASSED;
}

static enum outcome test_delay(void)
{
	return drain_beside_a_quantum(KADAPT_FILE_DELAY_NS, 3 * NS_PER_MS);
}

#define CREATOR 2 /* kthreadd, which creates kernel threads */

/*
 * The scheduler lets nobody preempt who has had more than a share. With this nice value the creator
 * has had that at once, and a worker may need it before it works.
 */
static enum outcome test_delay_owing(void)
{
	enum outcome outcome;

	if (setpriority(PRIO_PROCESS, CREATOR, 19))
		return skip("nobody but root may do this");
	outcome = drain_beside_a_quantum(NS_PER_MS / 10, 0);
	setpriority(PRIO_PROCESS, CREATOR, 0);
	return outcome;
}

const struct test_case life_cases[] = {
    {"life_dup2_over", "another file takes the descriptor's number", test_dup2_over},
    {"life_close_range", "all descriptors are closed at once", test_close_range},
    {"life_passed_on", "the descriptor is sent over a socket", test_passed_on},
    {"life_fork", "a child writes in between", test_fork},
    {"life_vfork", "a child with the parent's memory", test_vfork},
    {"life_group_exit", "a kill races threads that end", test_group_exit},
    {"life_many", "64 rings at once", test_many},
    {"life_disk_full", "ENOSPC comes from write(2), to the byte", test_disk_full},
    {"life_set_user_id", "the set-user-ID bit goes as by write(2)", test_set_user_id},
    {"delay", "the delay holds beside a long quantum", test_delay},
    {"delay_owing", "and when the creator of workers has had its share", test_delay_owing},
    {0},
};
