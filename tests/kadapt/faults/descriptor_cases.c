// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Descriptors that change while a ring is bound to them: they are closed, replaced by another file,
 * or passed to another process. And as many rings at once as the device allows.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device.h"
#include "faults.h"
#include "writer.h"

#define HALF 3000
#define MOST_RINGS 64
#define ROUNDS_OF_ALL 100
#define RECORDS_PER_ROUND 1000
#define RECORDS_PER_YIELD 16
#define LONGEST_SPIN 2000

static const struct sequence sequence = {.size = 64, .seed = 7};

static bool ended_well(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) == pid && status == 0;
}

/* The writer's part of a case: half of the records, the event, the other half. */
static int write_halves(struct sink *sink, struct progress *progress, int (*event)(struct sink *))
{
	struct writer writer;

	if (writer_begin(&writer, sink, progress, &sequence))
		return FAILED;
	writer_write(&writer, HALF);
	if (event(sink))
		return FAILED;
	writer_write(&writer, HALF);
	return PASSED;
}

static enum outcome check(struct seen *seen, const struct progress *progress)
{
	note("%lu records told of, %lu by a ring", (unsigned long)atomic_load(&progress->told),
	     (unsigned long)atomic_load(&progress->ringed));
	CHECK(seen_all(seen, atomic_load(&progress->told)));
	CHECK(atomic_load(&progress->told) == 2 * HALF);
	CHECK(atomic_load(&progress->ringed));
	return PASSED;
}

/* From here on, the number means another file. */
static int take_number(struct sink *sink)
{
	int other = open(in_directory("other").text, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	return other < 0 || dup3(other, sink->write_end, O_CLOEXEC) < 0 || close(other) ? -1 : 0;
}

static enum outcome number_taken(void)
{
	struct progress *progress = shared_memory(sizeof(*progress));
	struct path first = in_directory("records"), second = in_directory("other");
	struct seen seen = {.sequence = &sequence};
	struct sink sink = sink_at(first.text), other = sink_at(second.text);
	pid_t pid;

	CHECK(progress);
	pid = fork();
	if (pid == 0)
		_exit(write_halves(&sink, progress, take_number));
	CHECK(ended_well(pid));
	CHECK(sink_open_written(&sink) == 0 && sink_open_written(&other) == 0);
	seen_file(&seen, sink.read_end);
	CHECK(seen.bytes >= HALF * sequence.size);
	seen_file(&seen, other.read_end);
	return check(&seen, progress);
}

/* Closes the file, and opens it again for the other half. */
static int close_and_open(struct sink *sink)
{
	if (close(sink->write_end))
		return -1;
	sink->write_end = open(sink->path, O_RDWR | O_APPEND | O_CLOEXEC);
	return sink->write_end < 0 ? -1 : 0;
}

static enum outcome closed(void)
{
	struct progress *progress = shared_memory(sizeof(*progress));
	struct path path = in_directory("records");
	struct seen seen = {.sequence = &sequence};
	struct sink sink = sink_at(path.text);
	pid_t pid;

	CHECK(progress);
	pid = fork();
	if (pid == 0)
		_exit(write_halves(&sink, progress, close_and_open));
	CHECK(ended_well(pid));
	CHECK(sink_open_written(&sink) == 0);
	seen_file(&seen, sink.read_end);
	return check(&seen, progress);
}

static int road[2]; /* a socket, by which a descriptor is passed */

union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int))];
};

static int pass(struct sink *sink)
{
	union control control = {0};
	char byte = 0;
	struct iovec content = {.iov_base = &byte, .iov_len = 1};
	struct msghdr message = {
	    .msg_iov = &content,
	    .msg_iovlen = 1,
	    .msg_control = &control,
	    .msg_controllen = sizeof(control),
	};

	control.header = (struct cmsghdr){
	    .cmsg_len = CMSG_LEN(sizeof(int)),
	    .cmsg_level = SOL_SOCKET,
	    .cmsg_type = SCM_RIGHTS,
	};
	memcpy(CMSG_DATA(&control.header), &sink->write_end, sizeof(int));
	return sendmsg(road[1], &message, 0) == 1 ? 0 : -1;
}

static int receive_descriptor(void)
{
	union control control = {0};
	char byte;
	struct iovec content = {.iov_base = &byte, .iov_len = 1};
	struct msghdr message = {
	    .msg_iov = &content,
	    .msg_iovlen = 1,
	    .msg_control = &control,
	    .msg_controllen = sizeof(control),
	};
	int descriptor = -1;

	if (recvmsg(road[0], &message, 0) == 1)
		memcpy(&descriptor, CMSG_DATA(&control.header), sizeof(int));
	return descriptor;
}

/* Another owner of the open file sees the records in order, also after the writer has ended. */
static enum outcome passed_file(void)
{
	struct progress *progress = shared_memory(sizeof(*progress));
	struct path path = in_directory("records");
	struct seen seen = {.sequence = &sequence};
	struct sink sink = sink_at(path.text);
	int received;
	pid_t pid;

	CHECK(progress && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, road) == 0);
	pid = fork();
	if (pid == 0)
		_exit(write_halves(&sink, progress, pass));
	received = receive_descriptor();
	CHECK(received >= 0);
	CHECK(ended_well(pid));
	seen_file(&seen, received);
	close(received);
	return check(&seen, progress);
}

/* A thread does this to the file all the time. */
static struct {
	struct writer writer;
	_Atomic bool over;
} touched;

static void *touch(void *unused)
{
	const int file = touched.writer.sink->write_end;
	uint64_t thrown = setting.seed;
	struct stat about;

	while (!atomic_load(&touched.over)) {
		if (dice_below(&thrown, 2))
			ring_unbind(&touched.writer.ring);
		else if (lseek(file, 0, SEEK_CUR) < 0 || fstat(file, &about))
			break;
		dice_spin(&thrown, LONGEST_SPIN);
	}
	return unused;
}

static enum outcome write_touched(struct sink *sink, struct progress *progress)
{
	pthread_t thread;

	CHECK(writer_begin(&touched.writer, sink, progress, &sequence) == 0);
	CHECK(pthread_create(&thread, NULL, touch, NULL) == 0);
	for (uint64_t i = 0; i < setting.rounds * RECORDS_PER_ROUND; i++) {
		CHECK(writer_next(&touched.writer) == 0);
		/* On one processor the other thread would hardly run. */
		if (i % RECORDS_PER_YIELD == 0)
			sched_yield();
	}
	atomic_store(&touched.over, true);
	pthread_join(thread, NULL);
	return PASSED;
}

static enum outcome touched_all_the_time(void)
{
	struct progress *progress = shared_memory(sizeof(*progress));
	struct path path = in_directory("records");
	struct seen seen = {.sequence = &sequence};
	struct sink sink = sink_at(path.text);

	alarm(0);
	CHECK(progress && write_touched(&sink, progress) == PASSED);
	CHECK(sink_open_written(&sink) == 0);
	seen_file(&seen, sink.read_end);
	note("%lu records, %lu by a ring, %u bindings", (unsigned long)atomic_load(&progress->told),
	     (unsigned long)atomic_load(&progress->ringed), atomic_load(&progress->bound));
	CHECK(seen_all(&seen, atomic_load(&progress->told)));
	CHECK(atomic_load(&progress->bound) > 1);
	return PASSED;
}

static struct path numbered(int number)
{
	char name[32];

	snprintf(name, sizeof(name), "records-%d", number);
	return in_directory(name);
}

struct many {
	struct writer writers[MOST_RINGS];
	struct sink sinks[MOST_RINGS];
	struct path paths[MOST_RINGS];
	int count;
};

/* All rings of one device, until the device refuses more. */
static int begin_many(struct many *many, struct progress *progress)
{
	int device = open_device();

	for (many->count = 0; many->count < MOST_RINGS; many->count++) {
		struct writer *writer = &many->writers[many->count];

		*writer = (struct writer){
		    .sink = &many->sinks[many->count],
		    .progress = &progress[many->count],
		    .sequence = &sequence,
		};
		if (ring_make(&writer->ring, device, KADAPT_RING_MIN))
			return errno == EMFILE || errno == ENOMEM ? 0 : -1;
		if (sink_begin_writing(writer->sink))
			return -1;
	}
	return 0;
}

static void write_many(struct many *many, struct progress *progress, _Atomic int *count)
{
	if (begin_many(many, progress))
		_exit(FAILED);
	atomic_store(count, many->count);
	for (int i = 0; i < ROUNDS_OF_ALL * many->count; i++)
		if (writer_next(&many->writers[i % many->count]))
			_exit(FAILED);
	kill(getpid(), SIGKILL);
}

static bool check_many(struct many *many, struct progress *progress, int count)
{
	bool right = true;

	for (int i = 0; i < count; i++) {
		struct seen seen = {.sequence = &sequence};

		right &= sink_open_written(&many->sinks[i]) == 0;
		seen_file(&seen, many->sinks[i].read_end);
		right &= seen_all(&seen, atomic_load(&progress[i].told));
		right &= atomic_load(&progress[i].ringed) > 0;
		right &= seen.bytes == ROUNDS_OF_ALL * sequence.size;
		sink_close(&many->sinks[i]);
		unlink(many->paths[i].text);
	}
	return right;
}

/* The process is killed while each ring has records. */
static enum outcome many_rings(void)
{
	static struct many many;
	struct progress *progress = shared_memory(MOST_RINGS * sizeof(*progress));
	_Atomic int *count = shared_memory(sizeof(*count));
	pid_t pid;

	CHECK(progress && count);
	for (int i = 0; i < MOST_RINGS; i++) {
		many.paths[i] = numbered(i);
		many.sinks[i] = sink_at(many.paths[i].text);
	}
	pid = fork();
	if (pid == 0)
		write_many(&many, progress, count);
	CHECK(pid > 0 && waitpid(pid, NULL, 0) == pid);
	note("%d rings", atomic_load(count));
	CHECK(atomic_load(count) > 1);
	CHECK(check_many(&many, progress, atomic_load(count)));
	return PASSED;
}

const struct test_case descriptor_cases[] = {
    {"number_taken", "a number that another file takes: records go where they were told",
     number_taken},
    {"closed", "what is in the ring of a closed file comes before what its next opener writes",
     closed},
    {"passed_file", "whoever a file is passed to sees all records", passed_file},
    {"touched", "another thread closes the ring all the time", touched_all_the_time},
    {"many_rings", "64 rings at once, and the writer killed", many_rings},
    {0},
};
