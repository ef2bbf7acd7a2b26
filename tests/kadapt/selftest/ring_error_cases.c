// SPDX-License-Identifier: GPL-2.0-or-later
/* Causes every error of the calls about rings and batches. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/filter.h>
#include <linux/io_uring.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device.h"
#include "harness.h"
#include "ring.h"

static int unnamed_file(void)
{
	return open_scratch(".", O_TMPFILE | O_RDWR);
}

static int create(int device, uint32_t bytes, uint32_t flags)
{
	struct kadapt_new_ring shape = {.bytes = bytes, .flags = flags};

	return ioctl(device, KADAPT_RING, &shape);
}

static enum outcome test_ring_call(void)
{
	int device = open_device();

	CHECK_ERRNO(create(device, 0, 1), EINVAL);
	CHECK_ERRNO(create(device, 5000, 0), EINVAL);
	CHECK_ERRNO(create(device, 2048, 0), ERANGE);
	CHECK_ERRNO(create(device, KADAPT_RING_MAX * 2, 0), ERANGE);
	return PASSED;
}

static enum outcome test_too_many(void)
{
	int device = open_device();

	for (int i = 0; i < 256; i++)
		CHECK(create(device, 4096, 0) == 0);
	CHECK_ERRNO(create(device, 4096, 0), EMFILE);
	close(device);
	device = open_device();
	CHECK(create(device, 4096, 0) == 0);
	return PASSED;
}

static int create_without_limit(void *unused)
{
	struct rlimit none = {8192, 8192};
	int device = open_device();

	(void)unused;
	setrlimit(RLIMIT_MEMLOCK, &none);
	if (setuid(65534))
		return 1;
	if (create(device, 4096, 0))
		return 2;
	return create(device, 4096, 0) == -1 && errno == ENOMEM ? 0 : 3;
}

static enum outcome test_memlock(void)
{
	/* Twice: the first child's end returned what it was charged. */
	CHECK(in_child(create_without_limit, NULL) == 0);
	CHECK(in_child(create_without_limit, NULL) == 0);
	return PASSED;
}

static void *map(int device, size_t bytes, int flags, uint64_t offset)
{
	return mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, device, (off_t)offset);
}

static enum outcome test_map(void)
{
	struct test_ring ring;
	size_t bytes;

	CHECK(ring_open(&ring, 4096) == 0);
	bytes = ring.shape.map_bytes;
	CHECK(map(ring.device, bytes, MAP_SHARED, 0) == MAP_FAILED && errno == EINVAL);
	CHECK(map(ring.device, bytes, MAP_SHARED, 1ULL << 30) == MAP_FAILED && errno == ENXIO);
	CHECK(map(ring.device, bytes, MAP_SHARED, 4096) == MAP_FAILED && errno == ENXIO);
	CHECK(munmap((void *)ring.header, bytes) == 0);
	CHECK(ioctl(ring.device, KADAPT_RING, &ring.shape) == 0);
	CHECK(map(ring.device, bytes, MAP_PRIVATE, ring.shape.map_offset) == MAP_FAILED);
	CHECK(errno == EINVAL);
	CHECK(map(ring.device, bytes - 4096, MAP_SHARED, ring.shape.map_offset) == MAP_FAILED);
	CHECK(errno == EINVAL);
	CHECK(ring_map(&ring) == 0);
	return PASSED;
}

static int bind_raw(const struct test_ring *ring, struct kadapt_binding binding)
{
	return ioctl(ring->device, KADAPT_BIND, &binding);
}

static enum outcome test_bind_arguments(void)
{
	struct test_ring ring;
	int file = unnamed_file();

	CHECK(ring_open(&ring, 4096) == 0);
	CHECK_ERRNO(bind_raw(&ring, (struct kadapt_binding){.ring = 7, .descriptor = file}),
		    ENOENT);
	CHECK_ERRNO(bind_raw(&ring, (struct kadapt_binding){.flags = 1, .descriptor = file}),
		    EINVAL);
	CHECK_ERRNO(bind_raw(&ring, (struct kadapt_binding){.reserved = 1, .descriptor = file}),
		    EINVAL);
	CHECK_ERRNO(
	    bind_raw(&ring, (struct kadapt_binding){.mark_bytes = 4097, .descriptor = file}),
	    EINVAL);
	CHECK_ERRNO(bind_raw(&ring, (struct kadapt_binding){.delay_ns = KADAPT_DELAY_MAX_NS + 1,
							    .descriptor = file}),
		    ERANGE);
	CHECK_ERRNO(bind_raw(&ring, (struct kadapt_binding){.descriptor = -1}), EBADF);
	return PASSED;
}

static int bind_opened(const struct test_ring *ring, const char *name, int flags)
{
	int file = open(name, flags, 0600);
	int result = ring_bind(ring, file);
	int error = errno;

	close(file);
	errno = error;
	return result;
}

static enum outcome test_bind_kinds(void)
{
	struct test_ring ring;
	int ends[2];

	CHECK(ring_open(&ring, 4096) == 0);
	CHECK_ERRNO(bind_opened(&ring, "/dev/null", O_WRONLY), EMEDIUMTYPE);
	CHECK_ERRNO(bind_opened(&ring, "/", O_RDONLY), EBADF);
	CHECK_ERRNO(bind_opened(&ring, "/proc/self/exe", O_RDONLY), EBADF);
	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	CHECK_ERRNO(ring_bind(&ring, ends[0]), EMEDIUMTYPE);
	CHECK(pipe(ends) == 0);
	CHECK_ERRNO(ring_bind(&ring, ends[1]), EMEDIUMTYPE);
	CHECK_ERRNO(ring_bind(&ring, ends[0]), EBADF);
	return PASSED;
}

static enum outcome test_bind_synchronous(void)
{
	struct test_ring ring;
	char name[64];
	int file = unnamed_file();

	CHECK(file >= 0 && ring_open(&ring, 4096) == 0);
	close(file);
	snprintf(name, sizeof(name), "%s/synchronous", scratch_folder());
	CHECK_ERRNO(bind_opened(&ring, name, O_WRONLY | O_CREAT | O_SYNC), EBADFD);
	CHECK_ERRNO(bind_opened(&ring, name, O_WRONLY | O_DSYNC), EBADFD);
	CHECK(bind_opened(&ring, name, O_WRONLY) == 0);
	return PASSED;
}

static enum outcome test_bind_without_lease(void)
{
	struct test_ring ring;
	int file = open_scratch("twice", O_WRONLY | O_CREAT);
	int again = open_scratch("twice", O_RDONLY);

	CHECK(ring_open(&ring, 4096) == 0);
	CHECK_ERRNO(ring_bind(&ring, file), ENOLCK);
	close(again);
	CHECK(ring_bind(&ring, file) == 0);
	/* The kernel does not count the openers of such files. */
	CHECK_ERRNO(ring_bind(&ring, memfd_create("ring", 0)), ENOLCK);
	return PASSED;
}

static enum outcome test_bind_shared(void)
{
	struct test_ring ring;
	int file = unnamed_file();
	int copy = dup(file);
	void *mapped;

	CHECK(ring_open(&ring, 4096) == 0);
	CHECK_ERRNO(ring_bind(&ring, file), ENOTUNIQ);
	close(copy);
	CHECK(ring_bind(&ring, file) == 0);
	CHECK(ring_unbind(&ring) == 0);
	CHECK(ftruncate(file, 4096) == 0 && lseek(file, 0, SEEK_END) == 4096);
	mapped = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
	CHECK(mapped != MAP_FAILED);
	CHECK_ERRNO(ring_bind(&ring, file), ENOTUNIQ);
	CHECK(munmap(mapped, 4096) == 0);
	CHECK(ring_bind(&ring, file) == 0);
	return PASSED;
}

/* ramfs can't reserve space. */
static enum outcome test_bind_without_space(void)
{
	struct test_ring ring;
	char folder[64], name[80];
	int file;

	snprintf(folder, sizeof(folder), "%s/unreserved", scratch_folder());
	snprintf(name, sizeof(name), "%s/file", folder);
	mkdir(folder, 0700);
	CHECK(mount("none", folder, "ramfs", 0, NULL) == 0);
	file = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	CHECK(file >= 0 && ring_open(&ring, 4096) == 0);
	CHECK_ERRNO(ring_bind(&ring, file), EOPNOTSUPP);
	CHECK(!ring_is_bound(&ring) && ring_is_closed(&ring));
	close(file);
	CHECK(umount(folder) == 0);
	return PASSED;
}

static enum outcome test_bind_inside(void)
{
	struct test_ring ring;
	int file = unnamed_file();

	CHECK(ring_open(&ring, 4096) == 0);
	CHECK(write(file, "text", 4) == 4 && lseek(file, 2, SEEK_SET) == 2);
	CHECK_ERRNO(ring_bind(&ring, file), ESPIPE);
	CHECK(lseek(file, 6, SEEK_SET) == 6);
	CHECK_ERRNO(ring_bind(&ring, file), ESPIPE);
	CHECK(fcntl(file, F_SETFL, O_APPEND) == 0);
	CHECK(ring_bind(&ring, file) == 0);
	return PASSED;
}

/* Of the program's own, right behind the end or far beyond. */
static enum outcome test_bind_reserved(void)
{
	const off_t begins[] = {0, 4096, 1 << 20};
	struct test_ring ring;

	CHECK(ring_open(&ring, 4096) == 0);
	for (int i = 0; i < 3; i++) {
		int file = unnamed_file();

		CHECK(write(file, "text", 4) == 4);
		CHECK(fallocate(file, FALLOC_FL_KEEP_SIZE, begins[i], 65536) == 0);
		CHECK_ERRNO(ring_bind(&ring, file), ENOTEMPTY);
		close(file);
	}
	return PASSED;
}

static void *keep_own_table(void *begun)
{
	if (unshare(CLONE_FILES))
		abort();
	pthread_barrier_wait(begun);
	pause();
	return NULL;
}

static enum outcome test_bind_tables(void)
{
	pthread_barrier_t begun;
	struct test_ring ring;
	int file = unnamed_file(), other = unnamed_file();
	pthread_t thread;

	CHECK(ring_open(&ring, 4096) == 0 && ring_bind(&ring, other) == 0);
	CHECK(!pthread_barrier_init(&begun, NULL, 2));
	CHECK(!pthread_create(&thread, NULL, keep_own_table, &begun));
	pthread_barrier_wait(&begun);
	CHECK_ERRNO(ring_bind(&ring, file), EBUSY);
	return PASSED;
}

/* The child of vfork() has the parent's memory and its own descriptors. */
static enum outcome test_bind_in_child(void)
{
	struct test_ring ring;
	int file = unnamed_file(), status;
	pid_t child;

	CHECK(ring_open(&ring, 4096) == 0);
	child = vfork();
	if (!child)
		_exit(ring_bind(&ring, file) == -1 && errno == EPERM ? 0 : 1);
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	CHECK(ring_bind(&ring, file) == 0);
	return PASSED;
}

static enum outcome test_bind_after_io_uring(void)
{
	struct io_uring_params shape = {0};
	struct test_ring ring;
	int file = unnamed_file();

	CHECK(ring_open(&ring, 4096) == 0);
	if (syscall(SYS_io_uring_setup, 1, &shape) < 0)
		return skip("this kernel has no io_uring");
	CHECK_ERRNO(ring_bind(&ring, file), EBUSY);
	return PASSED;
}

static enum outcome test_drain_arguments(void)
{
	struct test_ring ring;

	CHECK(ring_open(&ring, 4096) == 0);
	CHECK_ERRNO(ioctl(ring.device, KADAPT_DRAIN, 7L), ENOENT);
	CHECK_ERRNO(ioctl(ring.device, KADAPT_DRAIN, 0x10000L), EINVAL);
	CHECK_ERRNO(ioctl(ring.device, KADAPT_DRAIN, KADAPT_DRAIN_ALL | 1L), EINVAL);
	CHECK(ioctl(ring.device, KADAPT_DRAIN, (long)KADAPT_DRAIN_ALL) == 0);
	CHECK_ERRNO(ring_drain(&ring), ENOLINK);
	CHECK_ERRNO(ioctl(ring.device, KADAPT_UNBIND, 7L), ENOENT);
	CHECK(ring_unbind(&ring) == 0);
	return PASSED;
}

static struct kadapt_batch batch_of(int descriptor, const void *base, uint64_t size,
				    uint64_t stride, uint64_t count)
{
	return (struct kadapt_batch){
	    .descriptor = descriptor,
	    .base = (uintptr_t)base,
	    .size = size,
	    .stride = stride,
	    .count = count,
	};
}

static int batch_raw(int device, struct kadapt_batch batch)
{
	return ioctl(device, KADAPT_BATCH, &batch);
}

static enum outcome test_batch_arguments(void)
{
	int device = open_device();
	int file = unnamed_file();
	struct kadapt_batch flags = batch_of(file, "x", 1, 1, 1);

	flags.flags = 2;
	CHECK_ERRNO(batch_raw(device, flags), EINVAL);
	CHECK_ERRNO(batch_raw(device, batch_of(file, "x", 0, 1, 1)), EINVAL);
	CHECK_ERRNO(batch_raw(device, batch_of(file, "x", 1, 1, 0)), EINVAL);
	CHECK_ERRNO(batch_raw(device, batch_of(file, "x", 1, UINT64_MAX, 3)), EINVAL);
	CHECK_ERRNO(batch_raw(device, batch_of(-1, "x", 1, 1, 1)), EBADF);
	CHECK_ERRNO(batch_raw(device, batch_of(file, (void *)8, 1, 1, 1)), EFAULT);
	return PASSED;
}

/* Installs a filter that allows every call. Even so the filter must see every call. */
static int allow_all(void)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = {.len = 1, .filter = &allow};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static enum outcome test_filtered(void)
{
	struct test_ring ring;
	int file = unnamed_file();

	CHECK(ring_open(&ring, 4096) == 0);
	if (allow_all())
		return skip("this kernel filters no calls");
	CHECK_ERRNO(ring_bind(&ring, file), EPERM);
	CHECK_ERRNO(batch_raw(ring.device, batch_of(file, "x", 1, 1, 1)), EPERM);
	return PASSED;
}

const struct test_case ring_error_cases[] = {
    {"rerror_ring", "sizes and flags of a ring", test_ring_call},
    {"rerror_emfile", "EMFILE for more rings than there may be", test_too_many},
    {"rerror_memlock", "ENOMEM above RLIMIT_MEMLOCK", test_memlock},
    {"rerror_map", "EINVAL and ENXIO of mmap", test_map},
    {"rerror_bind", "arguments of a binding", test_bind_arguments},
    {"rerror_kinds", "EMEDIUMTYPE for what is no regular file, EBADF", test_bind_kinds},
    {"rerror_synchronous", "EBADFD for O_SYNC", test_bind_synchronous},
    {"rerror_lease", "ENOLCK for a file that is open twice", test_bind_without_lease},
    {"rerror_shared", "ENOTUNIQ for what is shared", test_bind_shared},
    {"rerror_space", "EOPNOTSUPP where no space can be reserved", test_bind_without_space},
    {"rerror_inside", "ESPIPE but at the file's end", test_bind_inside},
    {"rerror_reserved", "ENOTEMPTY where the program reserved space", test_bind_reserved},
    {"rerror_tables", "EBUSY for threads with different descriptors", test_bind_tables},
    {"rerror_child", "EPERM in a child with the parent's memory", test_bind_in_child},
    {"rerror_io_uring", "EBUSY after the use of io_uring", test_bind_after_io_uring},
    {"rerror_seccomp", "EPERM for a thread whose calls are filtered", test_filtered},
    {"rerror_drain", "arguments of a drain", test_drain_arguments},
    {"rerror_batch", "arguments of a batch", test_batch_arguments},
    {0},
};
