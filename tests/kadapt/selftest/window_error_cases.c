// SPDX-License-Identifier: GPL-2.0-or-later
/* Every errno of the calls about windows, produced on purpose. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "device.h"
#include "harness.h"
#include "ring.h"
#include "window.h"

#define NAME "window.in"

/* A page of the letter a, open for reading. */
static int readable_file(void)
{
	char page[4096];
	int file = open_scratch(NAME, O_WRONLY | O_CREAT | O_TRUNC);

	memset(page, 'a', sizeof(page));
	if (write(file, page, sizeof(page)) != sizeof(page) || close(file))
		return -1;
	return open_scratch(NAME, O_RDONLY);
}

static int create(int device, uint32_t bytes, uint32_t flags)
{
	struct kadapt_window shape = {.bytes = bytes, .flags = flags};

	return ioctl(device, KADAPT_WINDOW, &shape);
}

static enum outcome test_window_call(void)
{
	int device = open_device();

	CHECK_ERRNO(create(device, 0, 1), EINVAL);
	CHECK_ERRNO(create(device, 5000, 0), EINVAL);
	CHECK_ERRNO(create(device, 1 << 31, 0), ERANGE);
	CHECK_ERRNO(create(device, KADAPT_WINDOW_MAX + 4096, 0), ERANGE);
	CHECK(create(device, 3 * 4096, 0) == 0);
	for (int i = 1; i < 256; i++)
		CHECK(create(device, 4096, 0) == 0);
	CHECK_ERRNO(create(device, 4096, 0), EMFILE);
	return PASSED;
}

static int create_without_limit(void *unused)
{
	struct rlimit none = {8192, 8192};
	int device = open_device();

	(void)unused;
	setrlimit(RLIMIT_MEMLOCK, &none);
	if (setuid(65534) || create(device, 4096, 0))
		return 1;
	return create(device, 4096, 0) == -1 && errno == ENOMEM ? 0 : 2;
}

static enum outcome test_memlock(void)
{
	/* Twice: what the first charged it has returned. */
	CHECK(in_child(create_without_limit, NULL) == 0);
	CHECK(in_child(create_without_limit, NULL) == 0);
	return PASSED;
}

static enum outcome test_mmap(void)
{
	struct test_window window = {.device = open_device()};

	CHECK(ioctl(window.device, KADAPT_WINDOW, &window.shape) == 0);
	CHECK(window.shape.bytes == KADAPT_WINDOW_DEFAULT);
	CHECK_ERRNO(window_look(&window, readable_file(), 0), ENXIO);
	CHECK_ERRNO(window_map(&window, PROT_READ | PROT_WRITE), EACCES);
	CHECK_ERRNO(window_map(&window, PROT_READ | PROT_EXEC), EACCES);
	window.shape.map_bytes -= 4096;
	CHECK_ERRNO(window_map(&window, PROT_READ), EINVAL);
	window.shape.map_bytes += 4096;
	CHECK(mmap(NULL, window.shape.map_bytes, PROT_READ, MAP_PRIVATE, window.device,
		   (off_t)window.shape.map_offset) == MAP_FAILED &&
	      errno == EINVAL);
	CHECK(window_map(&window, PROT_READ) == 0);
	CHECK_ERRNO(window_map(&window, PROT_READ), EINVAL);
	window.shape.map_offset += window.shape.map_bytes;
	CHECK_ERRNO(window_map(&window, PROT_READ), ENXIO);
	return PASSED;
}

/* The look changed in one place, that must give this. */
static bool gives(struct test_window *window, int error)
{
	int result = ioctl(window->device, KADAPT_LOOK, &window->look);
	bool right = error ? result == -1 && errno == error : !result;

	window->look = (struct kadapt_look){
	    .window = window->shape.number,
	    .descriptor = window->look.descriptor,
	};
	return right;
}

static enum outcome test_terms(void)
{
	struct test_window window;

	CHECK(window_open(&window, 8192) == 0);
	window.look.descriptor = readable_file();
	CHECK(gives(&window, 0));
	window.look.window = 200;
	CHECK(gives(&window, ENOENT));
	window.look.flags = KADAPT_LOOK__ALL + 1;
	CHECK(gives(&window, EINVAL));
	window.look.pattern = KADAPT_PATTERN_STRIDED + 1;
	CHECK(gives(&window, EINVAL));
	window.look.pattern = KADAPT_PATTERN_STRIDED;
	CHECK(gives(&window, EINVAL));
	window.look.offset = -1ULL;
	CHECK(gives(&window, EINVAL));
	window.look.reserved = 1;
	CHECK(gives(&window, EINVAL));
	window.look.record_bytes = 8193;
	CHECK(gives(&window, ERANGE));
	window.look.readahead_bytes = KADAPT_READAHEAD_MAX + 1;
	CHECK(gives(&window, ERANGE));
	window.look.delay_ns = KADAPT_DELAY_MAX_NS + 1;
	CHECK(gives(&window, ERANGE));
	CHECK(gives(&window, 0));
	return PASSED;
}

/* A ring's number is no window's, nor the other way round. */
static enum outcome test_kinds(void)
{
	struct test_window window;
	struct test_ring ring = {0};

	CHECK(window_open(&window, 0) == 0);
	ring.device = window.device;
	ring.shape.number = window.shape.number;
	CHECK_ERRNO(ring_drain(&ring, 0), ENOENT);
	ring.shape = (struct kadapt_ring){0};
	CHECK(ioctl(ring.device, KADAPT_RING, &ring.shape) == 0);
	window.look.window = ring.shape.number;
	CHECK_ERRNO(window_look(&window, readable_file(), 0), ENOENT);
	CHECK(ioctl(ring.device, KADAPT_DRAIN, KADAPT_DRAIN_ALL) == 0);
	return PASSED;
}

static enum outcome test_descriptors(void)
{
	struct test_window window;
	int ends[2];

	close(readable_file());
	CHECK(window_open(&window, 0) == 0);
	CHECK_ERRNO(window_look(&window, 999, 0), EBADF);
	CHECK_ERRNO(window_look(&window, open_scratch(NAME, O_WRONLY), 0), EBADF);
	CHECK_ERRNO(window_look(&window, open("/dev/null", O_RDONLY), 0), EMEDIUMTYPE);
	CHECK_ERRNO(window_look(&window, open("/", O_RDONLY), 0), EMEDIUMTYPE);
	CHECK(pipe(ends) == 0);
	CHECK_ERRNO(window_look(&window, ends[0], 0), EMEDIUMTYPE);
	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	CHECK_ERRNO(window_look(&window, ends[0], 0), EMEDIUMTYPE);
	/* Files whose contents are made when they are read. */
	CHECK_ERRNO(window_look(&window, open("/proc/self/maps", O_RDONLY), 0), EMEDIUMTYPE);
	CHECK_ERRNO(window_look(&window, open("/sys/kernel/uevent_seqnum", O_RDONLY), 0),
		    EMEDIUMTYPE);
	return PASSED;
}

static enum outcome test_enolck(void)
{
	struct test_window window;
	int file = readable_file();
	int writer = open_scratch(NAME, O_WRONLY);

	CHECK(window_open(&window, 0) == 0);
	CHECK_ERRNO(window_look(&window, file, 0), ENOLCK);
	close(writer);
	CHECK(window_look(&window, file, 0) == 0 && window_let_go(&window) == 0);
	/* Written through a descriptor of its own. */
	CHECK_ERRNO(window_look(&window, open_scratch(NAME, O_RDWR), 0), ENOLCK);
	/* Nobody counts who writes to memory that has no name. */
	writer = memfd_create("window", 0);
	CHECK(write(writer, "abc", 3) == 3);
	CHECK_ERRNO(window_look(&window, writer, 0), ENOLCK);
	return PASSED;
}

/* The program's own lease and its signal stay as they are. */
static enum outcome test_own_lease(void)
{
	struct test_window window;
	int file = readable_file();

	CHECK(window_open(&window, 0) == 0);
	signal(SIGUSR1, SIG_IGN);
	CHECK(fcntl(file, F_SETSIG, SIGUSR1) == 0 && fcntl(file, F_SETLEASE, F_RDLCK) == 0);
	CHECK_ERRNO(window_look(&window, file, 0), ENOLCK);
	CHECK(fcntl(file, F_GETLEASE) == F_RDLCK && fcntl(file, F_GETSIG) == SIGUSR1);
	return PASSED;
}

static enum outcome test_shared(void)
{
	struct test_window window;
	int file = readable_file();
	int copy = dup(file);

	CHECK(window_open(&window, 0) == 0);
	window.look.flags = KADAPT_LOOK_UNSHARED;
	CHECK_ERRNO(window_look(&window, file, 0), ENOTUNIQ);
	close(copy);
	CHECK(window_look(&window, file, 0) == 0);
	CHECK(window_look(&window, file, 0) == 0);
	copy = dup(file);
	CHECK_ERRNO(window_look(&window, file, 0), ENOTUNIQ);
	window.look.flags = 0;
	CHECK(window_look(&window, copy, 0) == 0);
	window.look.pattern = KADAPT_PATTERN_RANDOM;
	CHECK_ERRNO(window_look(&window, copy, 0), ENOTUNIQ);
	return PASSED;
}

static int open_direct(void)
{
	int file = open_scratch(NAME, O_RDONLY | O_DIRECT);

	return file < 0 ? open("/tmp/" NAME, O_RDONLY | O_DIRECT | O_CREAT, 0600) : file;
}

static enum outcome test_direct(void)
{
	struct test_window window;
	int file;

	close(readable_file());
	file = open_direct();
	if (file < 0)
		return skip("no file system here takes O_DIRECT");
	CHECK(window_open(&window, 0) == 0);
	CHECK_ERRNO(window_look(&window, file, 0), EBADFD);
	return PASSED;
}

static int look_at_anothers_file(void *unused)
{
	struct test_window window;
	int file = open_scratch(NAME, O_RDONLY);
	char byte;

	(void)unused;
	if (window_open(&window, 0) || setuid(65534))
		return 1;
	return !window_look(&window, file, 0) && window_copy(&window, &byte, 1, 7) && byte == 'a'
		   ? 0
		   : 2;
}

static enum outcome test_anothers_file(void)
{
	close(readable_file());
	CHECK(in_child(look_at_anothers_file, NULL) == 0);
	return PASSED;
}

const struct test_case window_error_cases[] = {
    {"werror_window", "EINVAL, ERANGE, EMFILE", test_window_call},
    {"werror_memlock", "ENOMEM above RLIMIT_MEMLOCK", test_memlock},
    {"werror_mmap", "ENXIO, EINVAL, EACCES of mmap", test_mmap},
    {"werror_look", "ENOENT, EINVAL, ERANGE", test_terms},
    {"werror_kinds", "ENOENT of a number of another kind", test_kinds},
    {"werror_descriptors", "EBADF, EMEDIUMTYPE", test_descriptors},
    {"werror_enolck", "ENOLCK while somebody writes", test_enolck},
    {"werror_own_lease", "ENOLCK where the program has a lease", test_own_lease},
    {"werror_shared", "ENOTUNIQ of a shared open file", test_shared},
    {"werror_direct", "EBADFD with O_DIRECT", test_direct},
    {"werror_anothers_file", "none for another user's file", test_anothers_file},
    {0},
};
