// SPDX-License-Identifier: GPL-2.0-or-later
/* Every errno of the calls about rings and batches, produced on purpose. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
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
	struct kadapt_ring shape = {.bytes = bytes, .flags = flags};

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
	/* Twice: what the first charged it has returned. */
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
	CHECK_ERRNO(bind_raw(&ring, (struct kadapt_binding){.flags = 4, .descriptor = file}),
		    EINVAL);
	CHECK_ERRNO(
	    bind_raw(&ring, (struct kadapt_binding){.mark_bytes = 4097, .descriptor = file}),
	    EINVAL);
	CHECK_ERRNO(bind_raw(&ring, (struct kadapt_binding){.delay_ns = KADAPT_DELAY_MAX_NS + 1,
							    .descriptor = file}),
		    ERANGE);
	CHECK_ERRNO(bind_raw(&ring, (struct kadapt_binding){.offset = 1ULL << 63,
							    .flags = KADAPT_BIND_AT,
							    .descriptor = file}),
		    EINVAL);
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
	CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0);
	CHECK_ERRNO(ring_bind(&ring, ends[0]), EMEDIUMTYPE);
	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0);
	CHECK_ERRNO(ring_bind(&ring, ends[0]), EMEDIUMTYPE);
	CHECK_ERRNO(ring_bind(&ring, socket(AF_UNIX, SOCK_STREAM, 0)), ENOTCONN);
	CHECK_ERRNO(ring_bind(&ring, socket(AF_INET, SOCK_STREAM, 0)), ENOTCONN);
	CHECK(pipe2(ends, O_DIRECT) == 0);
	CHECK_ERRNO(ring_bind(&ring, ends[1]), EBADFD);
	CHECK_ERRNO(ring_bind(&ring, ends[0]), EBADF);
	return PASSED;
}

static enum outcome test_bind_credentials(void)
{
	struct test_ring ring;
	int ends[2], on = 1;

	/* Who asks for the sender's identity gets it with each send(2). */
	CHECK(ring_open(&ring, 4096) == 0);
	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	CHECK(setsockopt(ends[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) == 0);
	CHECK_ERRNO(ring_bind(&ring, ends[0]), EMEDIUMTYPE);
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
	/* The kernel does not count who opens these. */
	CHECK_ERRNO(ring_bind(&ring, memfd_create("ring", 0)), ENOLCK);
	return PASSED;
}

static enum outcome test_bind_shared(void)
{
	struct test_ring ring;
	int file = unnamed_file();
	int copy = dup(file);
	int ends[2], writer;
	void *mapped;

	CHECK(ring_open(&ring, 4096) == 0);
	CHECK_ERRNO(ring_bind(&ring, file), ENOTUNIQ);
	close(copy);
	CHECK(ring_bind(&ring, file) == 0);
	CHECK(ring_unbind(&ring) == 0);
	CHECK(ftruncate(file, 4096) == 0);
	mapped = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
	CHECK(mapped != MAP_FAILED);
	CHECK_ERRNO(ring_bind(&ring, file), ENOTUNIQ);
	CHECK(munmap(mapped, 4096) == 0);
	CHECK(ring_bind(&ring, file) == 0);
	CHECK(pipe(ends) == 0);
	writer = dup(ends[1]);
	CHECK_ERRNO(ring_bind(&ring, ends[1]), ENOTUNIQ);
	close(writer);
	CHECK(ring_bind(&ring, ends[1]) == 0);
	return PASSED;
}

static enum outcome test_bind_strict(void)
{
	struct test_ring ring;
	int ends[2];

	CHECK(ring_open(&ring, 4096) == 0);
	CHECK(pipe(ends) == 0);
	CHECK_ERRNO(ring_bind_with(&ring, ends[1], KADAPT_BIND_STRICT, 0), EPROTONOSUPPORT);
	CHECK_ERRNO(ring_bind_with(&ring, ends[1], KADAPT_BIND_AT, 0), ESPIPE);
	CHECK(ring_bind_with(&ring, unnamed_file(), KADAPT_BIND_STRICT, 0) == 0);
	return PASSED;
}

static enum outcome test_drain_arguments(void)
{
	struct test_ring ring;

	CHECK(ring_open(&ring, 4096) == 0);
	CHECK_ERRNO(ioctl(ring.device, KADAPT_DRAIN, 7L), ENOENT);
	CHECK_ERRNO(ioctl(ring.device, KADAPT_DRAIN, 0x100000L), EINVAL);
	CHECK_ERRNO(ioctl(ring.device, KADAPT_DRAIN, KADAPT_DRAIN_ALL | 1L), EINVAL);
	CHECK(ioctl(ring.device, KADAPT_DRAIN, (long)KADAPT_DRAIN_ALL) == 0);
	CHECK_ERRNO(ioctl(ring.device, KADAPT_UNBIND, 7L), ENOENT);
	CHECK(ring_unbind(&ring) == 0);
	return PASSED;
}

static enum outcome test_drain_again(void)
{
	static char block[65536];
	struct test_ring ring;
	int ends[2];

	CHECK(pipe2(ends, O_NONBLOCK) == 0);
	CHECK(ring_open(&ring, 4096) == 0);
	CHECK(ring_bind_with(&ring, ends[1], 0, NS_PER_S) == 0);
	CHECK(ring_append(&ring, "later", 5));
	CHECK(write(ends[1], block, sizeof(block)) == sizeof(block));
	CHECK_ERRNO(ring_drain(&ring, 0), EAGAIN);
	/* O_NONBLOCK: waiting is not waited for either. */
	CHECK_ERRNO(ring_drain(&ring, KADAPT_DRAIN_WAIT), EAGAIN);
	CHECK_ERRNO(ring_unbind(&ring), EAGAIN);
	CHECK(ring_is_bound(&ring) && ring_pending(&ring) == 5);
	CHECK(read(ends[0], block, sizeof(block)) == sizeof(block));
	CHECK(ring_unbind(&ring) == 0);
	CHECK(read(ends[0], block, sizeof(block)) == 5);
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

const struct test_case ring_error_cases[] = {
    {"rerror_ring", "sizes and flags of a ring", test_ring_call},
    {"rerror_emfile", "EMFILE for more rings than there may be", test_too_many},
    {"rerror_memlock", "ENOMEM above RLIMIT_MEMLOCK", test_memlock},
    {"rerror_map", "EINVAL and ENXIO of mmap", test_map},
    {"rerror_bind", "arguments of a binding", test_bind_arguments},
    {"rerror_kinds", "EMEDIUMTYPE, ENOTCONN, EBADF, EBADFD", test_bind_kinds},
    {"rerror_credentials", "EMEDIUMTYPE where the sender's identity is sent",
     test_bind_credentials},
    {"rerror_synchronous", "EBADFD for O_SYNC", test_bind_synchronous},
    {"rerror_lease", "ENOLCK for a file that is open twice", test_bind_without_lease},
    {"rerror_shared", "ENOTUNIQ for what is shared", test_bind_shared},
    {"rerror_strict", "EPROTONOSUPPORT and ESPIPE", test_bind_strict},
    {"rerror_drain", "arguments of a drain", test_drain_arguments},
    {"rerror_again", "EAGAIN while the other end has no room", test_drain_again},
    {"rerror_batch", "arguments of a batch", test_batch_arguments},
    {0},
};
