// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Whoever touches a bound file finds the records that the ring accepted.
 *
 * A case touches two files in the same way. The text of the first was written by
 * write(2). The text of the second is in a ring, which nothing but the touch would
 * drain for a second. Both touches must return the same and leave the same file.
 * Touches are plain system calls, so no library can drain the ring first.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/falloc.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "device.h"
#include "harness.h"
#include "ring.h"

#define LONG_DELAY NS_PER_S
#define BEFORE "before "
#define PENDING "pending"
#define TEXT "after"

/* A touch's result, and what the file is like afterwards. */
struct seen {
	long answer;
	int error;
	off_t position;
	long flags;
	struct stat status;
	char content[128];
	ssize_t length;
};

typedef long (*touch_function)(int file);

/* ---- touches ---------------------------------------------------------------------------- */

static long by_write(int file)
{
	return write(file, TEXT, 5);
}

static long by_writev(int file)
{
	const struct iovec pieces[] = {{(void *)"af", 2}, {(void *)"ter", 3}};

	return writev(file, pieces, 2);
}

static long by_pwrite(int file)
{
	return pwrite(file, TEXT, 5, 9);
}

static long by_pwritev2(int file)
{
	const struct iovec piece = {(void *)TEXT, 5};

	return pwritev2(file, &piece, 1, -1, RWF_APPEND);
}

static long by_read(int file)
{
	char found[8];

	return read(file, found, sizeof(found));
}

static long by_pread(int file)
{
	char found[64] = "";

	return pread(file, found, sizeof(found), 0) + 1000 * strcmp(found, BEFORE PENDING);
}

static long by_seek(int file)
{
	return lseek(file, 0, SEEK_CUR);
}

static long by_seek_end(int file)
{
	return lseek(file, -2, SEEK_END);
}

static long by_truncate(int file)
{
	return ftruncate(file, 9);
}

static long by_allocate(int file)
{
	return fallocate(file, 0, 0, 64);
}

static long by_punch(int file)
{
	return fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096);
}

static long by_reserving(int file)
{
	return fallocate(file, FALLOC_FL_KEEP_SIZE, 0, 1 << 20);
}

static long by_sync(int file)
{
	return fsync(file);
}

static long by_times(int file)
{
	const struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 2}};

	return futimens(file, times);
}

static long by_mode(int file)
{
	return fchmod(file, 04755);
}

static long by_attribute(int file)
{
	return fsetxattr(file, "trusted.kadapt", "1", 1, 0) ? -errno : 0;
}

static long by_mapping(int file)
{
	char *memory = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
	long answer;

	if (memory == MAP_FAILED)
		return -errno;
	answer = memcmp(memory, BEFORE PENDING, sizeof(BEFORE PENDING) - 1);
	munmap(memory, 4096);
	return answer;
}

static int source_of(const char *text)
{
	int source = memfd_create("source", 0);

	if (write(source, text, strlen(text)) != (ssize_t)strlen(text))
		return -1;
	lseek(source, 0, SEEK_SET);
	return source;
}

static long by_sendfile_to(int file)
{
	int source = source_of(TEXT);
	long answer = sendfile(file, source, NULL, 5);

	close(source);
	return answer;
}

static long by_sendfile_from(int file)
{
	int target = memfd_create("target", 0);
	off_t offset = 0;
	long answer = sendfile(target, file, &offset, 100);

	close(target);
	return answer;
}

static long by_splice(int file)
{
	int ends[2];
	long answer;

	if (pipe(ends) || write(ends[1], TEXT, 5) != 5)
		return -1000;
	answer = splice(ends[0], NULL, file, NULL, 5, 0);
	close(ends[0]);
	close(ends[1]);
	return answer;
}

static long by_copy_range(int file)
{
	int source = open_scratch("guard.source", O_RDWR | O_CREAT | O_TRUNC);
	long answer;

	if (write(source, TEXT, 5) != 5)
		return -1000;
	lseek(source, 0, SEEK_SET);
	answer = copy_file_range(source, NULL, file, NULL, 5, 0);
	close(source);
	return answer;
}

static long by_append_flag(int file)
{
	return fcntl(file, F_SETFL, O_APPEND);
}

static long by_flock(int file)
{
	return flock(file, LOCK_EX) + flock(file, LOCK_UN);
}

static long by_record_lock(int file)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_END, .l_start = -3};

	return fcntl(file, F_SETLK, &lock);
}

static long by_advice(int file)
{
	return posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
}

static void *write_in_thread(void *file)
{
	return (void *)by_write(*(int *)file);
}

static long by_thread(int file)
{
	void *answer = NULL;
	pthread_t thread;

	pthread_create(&thread, NULL, write_in_thread, &file);
	pthread_join(thread, &answer);
	return (long)answer;
}

/* Calls the kernel, so that no fork handler runs. The child shares the open file. */
static long by_clone(int file)
{
	long child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	int status;

	if (!child)
		_exit(by_write(file) != 5);
	waitpid((pid_t)child, &status, 0);
	return status;
}

static long by_copy(int file)
{
	int copy = dup(file);
	long answer = by_write(copy);

	close(copy);
	return answer;
}

static long by_dup2(int file)
{
	int kept = dup(file);
	int other = source_of("");
	int answer = dup2(other, file) == file;

	/* Puts the file back at its number, for look(). */
	answer += dup2(kept, file) == file;
	close(kept);
	close(other);
	return answer;
}

static long by_aio(int file)
{
	struct iocb request = {
	    .aio_lio_opcode = IOCB_CMD_PWRITE,
	    .aio_fildes = (uint32_t)file,
	    .aio_buf = (uintptr_t)TEXT,
	    .aio_nbytes = 5,
	    .aio_offset = sizeof(BEFORE) - 1,
	};
	struct iocb *list = &request;
	struct io_event event = {.res = -1000};
	aio_context_t context = 0;

	if (syscall(SYS_io_setup, 1, &context))
		return -errno;
	if (syscall(SYS_io_submit, context, 1, &list) != 1)
		return -3000;
	syscall(SYS_io_getevents, context, 1, 1, &event, NULL);
	syscall(SYS_io_destroy, context);
	return event.res;
}

static const char *name_of(int file)
{
	static char name[64];

	snprintf(name, sizeof(name), "/proc/self/fd/%d", file);
	return name;
}

/* Opens the file again, without waiting for the lease. */
static long by_open(int file)
{
	int other = open(name_of(file), O_WRONLY | O_APPEND | O_NONBLOCK);
	long answer = other < 0 ? -errno : write(other, TEXT, 5);

	close(other);
	return answer;
}

static long by_open_truncating(int file)
{
	int other = open(name_of(file), O_WRONLY | O_TRUNC);
	long answer = other < 0 ? -errno : write(other, TEXT, 5);

	close(other);
	return answer;
}

static long by_child_opening(int file)
{
	char found[64] = "";
	pid_t child = fork();
	int status;

	if (!child) {
		int other = open(name_of(file), O_RDONLY | O_NONBLOCK);

		_exit(read(other, found, 63) < 0 || strcmp(found, BEFORE PENDING));
	}
	waitpid(child, &status, 0);
	return status;
}

/* The file-size limit of the process that touches the file is 0. */
static long by_limited_child(int file)
{
	const struct rlimit none = {0, 0};
	struct stat status = {0};
	pid_t child = fork();
	int ended;

	if (!child) {
		setrlimit(RLIMIT_FSIZE, &none);
		stat(name_of(file), &status);
		lseek(file, 0, SEEK_CUR);
		_exit((int)status.st_size);
	}
	waitpid(child, &ended, 0);
	return ended;
}

static long by_own_limit(int file)
{
	const struct rlimit none = {0, RLIM_INFINITY}, before = {RLIM_INFINITY, RLIM_INFINITY};
	long answer;

	syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, &none, NULL);
	answer = lseek(file, 0, SEEK_CUR);
	syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, &before, NULL);
	return answer;
}

static long by_name_truncate(int file)
{
	return truncate(name_of(file), 9);
}

static long by_name_mode(int file)
{
	return chmod(name_of(file), 04755);
}

static long by_name_times(int file)
{
	const struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 2}};

	return utimensat(AT_FDCWD, name_of(file), times, 0);
}

static long by_name_attribute(int file)
{
	return setxattr(name_of(file), "trusted.kadapt", "1", 1, 0) ? -errno : 0;
}

static long by_status(int file)
{
	struct stat status;

	return fstat(file, &status) ? -errno : status.st_size;
}

static long by_name_status(int file)
{
	struct stat status;

	return stat(name_of(file), &status) ? -errno : status.st_size;
}

struct rings {
	int queue;
	char *submissions, *completions;
	struct io_uring_sqe *entries;
	struct io_uring_params shape;
};

static void *map_rings(const struct rings *rings, size_t size, off_t offset)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, rings->queue, offset);
}

static int open_rings(struct rings *rings)
{
	memset(rings, 0, sizeof(*rings));
	rings->queue = (int)syscall(SYS_io_uring_setup, 1, &rings->shape);
	if (rings->queue < 0)
		return -1;
	rings->submissions = map_rings(rings, 4096, IORING_OFF_SQ_RING);
	rings->completions = map_rings(rings, 4096, IORING_OFF_CQ_RING);
	rings->entries = map_rings(rings, 4096, IORING_OFF_SQES);
	return 0;
}

static long through_rings(const struct io_uring_sqe *request)
{
	struct rings rings;
	const struct io_uring_cqe *done;

	if (open_rings(&rings))
		return -errno;
	rings.entries[0] = *request;
	*(uint32_t *)(rings.submissions + rings.shape.sq_off.array) = 0;
	__atomic_store_n((uint32_t *)(rings.submissions + rings.shape.sq_off.tail), 1,
			 __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, rings.queue, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0)
		return -errno;
	done = (const void *)(rings.completions + rings.shape.cq_off.cqes);
	close(rings.queue);
	return done->res;
}

static long by_io_uring(int file)
{
	const struct io_uring_sqe request = {
	    .opcode = IORING_OP_WRITE,
	    .fd = file,
	    .off = (uint64_t)-1,
	    .addr = (uintptr_t)TEXT,
	    .len = 5,
	};

	return through_rings(&request);
}

/* At the file's position, which io_uring reads in a thread of its own. */
static long by_io_uring_splice(int file)
{
	struct io_uring_sqe request = {
	    .opcode = IORING_OP_SPLICE,
	    .fd = file,
	    .off = (uint64_t)-1,
	    .splice_off_in = (uint64_t)-1,
	    .len = 5,
	};
	int ends[2];
	long answer;

	if (pipe(ends) || write(ends[1], TEXT, 5) != 5)
		return -1000;
	request.splice_fd_in = ends[0];
	answer = through_rings(&request);
	close(ends[0]);
	close(ends[1]);
	return answer;
}

/* Writes at the offset where the pending text begins. */
static long by_io_uring_at(int file)
{
	const struct io_uring_sqe request = {
	    .opcode = IORING_OP_WRITE,
	    .fd = file,
	    .off = sizeof(BEFORE) - 1,
	    .addr = (uintptr_t)TEXT,
	    .len = 5,
	};

	return through_rings(&request);
}

static long by_io_uring_sync(int file)
{
	const struct io_uring_sqe request = {.opcode = IORING_OP_FSYNC, .fd = file};

	return through_rings(&request);
}

/* ---- twice ------------------------------------------------------------------------------ */

static void look(int file, struct seen *seen)
{
	seen->flags = fcntl(file, F_GETFL);
	seen->position = lseek(file, 0, SEEK_CUR);
	fstat(file, &seen->status);
	seen->length = pread(file, seen->content, sizeof(seen->content), 0);
}

static int begin(const char *name)
{
	int file = open_scratch(name, O_RDWR | O_CREAT | O_TRUNC);

	return write(file, BEFORE, sizeof(BEFORE) - 1) == sizeof(BEFORE) - 1 ? file : -1;
}

static void touch_plainly(touch_function touch, struct seen *seen)
{
	int file = begin("guard.plain");

	if (write(file, PENDING, sizeof(PENDING) - 1) != sizeof(PENDING) - 1)
		note("the plain file was not written");
	errno = 0;
	seen->answer = touch(file);
	seen->error = errno;
	look(file, seen);
	close(file);
}

/* Also checks that the touch itself drained the ring. */
static enum outcome touch_bound(touch_function touch, struct seen *seen)
{
	int file = begin("guard.bound");
	struct test_ring ring;
	int is_empty;

	CHECK(ring_open(&ring, 0) == 0);
	CHECK(ring_bind_for(&ring, file, LONG_DELAY) == 0);
	CHECK(ring_append(&ring, PENDING, sizeof(PENDING) - 1));
	errno = 0;
	seen->answer = touch(file);
	seen->error = errno;
	is_empty = !ring_pending(&ring);
	look(file, seen);
	CHECK(is_empty);
	CHECK(ring_unbind(&ring) == 0);
	close(file);
	close(ring.device);
	return PASSED;
}

static int took_times(const struct stat *one)
{
	return one->st_mtim.tv_sec == 2 && one->st_atim.tv_sec == 1;
}

static enum outcome compare(const struct seen *plain, const struct seen *bound)
{
	if (plain->answer != bound->answer || plain->error != bound->error)
		note("plain: %ld, errno %d; bound: %ld, errno %d", plain->answer, plain->error,
		     bound->answer, bound->error);
	if (plain->length != bound->length || memcmp(plain->content, bound->content, 128))
		note("plain: %zd '%s'; bound: %zd '%s'", plain->length, plain->content,
		     bound->length, bound->content);
	CHECK(plain->answer == bound->answer && plain->error == bound->error);
	CHECK(plain->length == bound->length);
	CHECK(!memcmp(plain->content, bound->content, sizeof(plain->content)));
	CHECK(plain->position == bound->position);
	CHECK(plain->flags == bound->flags);
	CHECK(plain->status.st_mode == bound->status.st_mode);
	CHECK(plain->status.st_size == bound->status.st_size);
	CHECK(plain->status.st_blocks == bound->status.st_blocks);
	CHECK(took_times(&plain->status) == took_times(&bound->status));
	return PASSED;
}

/* The plain touch is in a process of its own: after the use of io_uring, no ring is bound. */
static enum outcome twice(touch_function touch)
{
	struct seen *plain =
	    mmap(NULL, sizeof(*plain), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct seen bound = {0};
	pid_t child = fork();

	if (!child) {
		touch_plainly(touch, plain);
		_exit(0);
	}
	CHECK(child > 0 && waitpid(child, NULL, 0) == child);
	if (plain->answer == -ENOSYS)
		return skip("this kernel lacks the call");
	CHECK(touch_bound(touch, &bound) == PASSED);
	return compare(plain, &bound);
}

/* clang-format off */
#define TOUCHES(EACH) \
	EACH(write) EACH(writev) EACH(pwrite) EACH(pwritev2) EACH(read) EACH(pread) \
	EACH(seek) EACH(seek_end) EACH(truncate) EACH(allocate) EACH(punch) \
	EACH(reserving) EACH(sync) EACH(times) EACH(mode) EACH(attribute) EACH(mapping) \
	EACH(sendfile_to) EACH(sendfile_from) EACH(splice) EACH(copy_range) \
	EACH(append_flag) EACH(flock) EACH(record_lock) EACH(advice) EACH(thread) \
	EACH(clone) EACH(copy) EACH(dup2) EACH(aio) EACH(open) EACH(open_truncating) \
	EACH(child_opening) EACH(limited_child) EACH(own_limit) EACH(name_truncate) EACH(name_mode) EACH(name_times) \
	EACH(name_attribute) EACH(status) EACH(name_status) EACH(io_uring) \
	EACH(io_uring_at) EACH(io_uring_sync) EACH(io_uring_splice)
/* clang-format on */

#define DEFINE_CASE(name)                                                                          \
	static enum outcome test_##name(void)                                                      \
	{                                                                                          \
		return twice(by_##name);                                                           \
	}
TOUCHES(DEFINE_CASE)

/* ---- beside ----------------------------------------------------------------------------- */

/* Whom the file's signals are for: unbinding must not change it. */
static enum outcome test_receiver(void)
{
	int file = begin("guard.receiver");
	struct test_ring ring;

	CHECK(fcntl(file, F_SETOWN, getpid()) == 0);
	CHECK(ring_open(&ring, 0) == 0);
	CHECK(ring_bind_for(&ring, file, LONG_DELAY) == 0);
	CHECK(fcntl(file, F_SETSIG, SIGUSR1) == 0);
	CHECK(ring_unbind(&ring) == 0);
	CHECK(fcntl(file, F_GETOWN) == getpid());
	CHECK(fcntl(file, F_GETSIG) == SIGUSR1);
	CHECK(ring_bind_for(&ring, file, LONG_DELAY) == 0);
	CHECK(fcntl(file, F_SETOWN, 0) == 0);
	CHECK(ring_unbind(&ring) == 0);
	CHECK(fcntl(file, F_GETOWN) == 0);
	return PASSED;
}

static int signals;

static void count_signal(int number)
{
	(void)number;
	signals++;
}

static void append_for_ever(int file)
{
	struct test_ring ring;

	if (ring_open(&ring, 0))
		_exit(1);
	for (;;) {
		if (!ring_bind_for(&ring, file, LONG_DELAY))
			ring_append(&ring, TEXT, 5);
		sched_yield();
	}
}

/* The signal's handler has no SA_RESTART, and open() of a plain file never fails with EINTR. */
static enum outcome test_interrupted(void)
{
	const struct itimerval often = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
	const struct sigaction action = {.sa_handler = count_signal};
	int opens = 0, other = 0, file = begin("guard.interrupted");
	pid_t child = fork();

	if (!child)
		append_for_ever(file);
	close(file);
	CHECK(child > 0 && !sigaction(SIGALRM, &action, NULL));
	setitimer(ITIMER_REAL, &often, NULL);
	while (signals < 3000) {
		other = open_scratch("guard.interrupted", O_RDONLY);
		if (other < 0)
			break;
		close(other);
		opens++;
	}
	setitimer(ITIMER_REAL, &never, NULL);
	kill(child, SIGKILL);
	note("%d opens, %d signals", opens, signals);
	CHECK(other >= 0);
	CHECK(waitpid(child, NULL, 0) == child);
	return PASSED;
}

#define LIST_CASE(name) {"guard_" #name, "a ring is emptied by " #name, test_##name},

const struct test_case guard_cases[] = {
    TOUCHES(LIST_CASE){"guard_receiver", "signals of the file keep their receiver", test_receiver},
    {"guard_interrupted", "signals beside opens of a bound file", test_interrupted},
    {0},
};
