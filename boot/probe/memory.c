// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks of memory, allocated as User-Mode Linux and QEMU do it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "probe.h"

#define PAGE 4096L
/* The address of the code that User-Mode Linux runs in its programs' processes (STUB_START). */
#define STUB_ADDRESS 0x100000L
/*
 * Each page of a program in a guest is a mapping of its own, unless its memory happens to follow
 * the previous page's. With fewer mappings than this, even small programs fail.
 */
#define MAPPINGS 2048

/* Makes a file without a name, as User-Mode Linux does. */
static int make_file(const char *directory)
{
	int file = open(directory, O_CLOEXEC | O_RDWR | O_EXCL | O_TMPFILE, 0700);
	char *name;

	if (file >= 0 || (errno != EINVAL && errno != EISDIR && errno != EOPNOTSUPP))
		return file;
	if (asprintf(&name, "%s/vm_file-XXXXXX", directory) < 0)
		return -1;
	file = mkostemp(name, O_CLOEXEC);
	if (file >= 0)
		unlink(name);
	free(name);
	return file;
}

static int make_sized_file(const struct question *question)
{
	int file = make_file(question->directory);

	/* A sparse file with a byte at its end, as User-Mode Linux makes it. */
	if (file >= 0 && pwrite(file, "", 1, (off_t)question->memory_bytes - 1) != 1) {
		close(file);
		return -1;
	}
	return file;
}

struct answer check_file(const struct question *question)
{
	int all = PROT_READ | PROT_WRITE | PROT_EXEC;
	int file = make_sized_file(question);

	if (file < 0)
		return failed("making the file behind its memory");
	if (mmap(NULL, PAGE, all, MAP_PRIVATE, file, 0) == MAP_FAILED)
		return failed("executing from the file behind its memory");
	if (mmap(NULL, question->memory_bytes, all, MAP_SHARED, file, 0) == MAP_FAILED)
		return failed("mapping the file behind its memory");
	return fine(0);
}

/* For the stack of a new process of User-Mode Linux, and the code that QEMU translates. */
struct answer check_code(const struct question *question)
{
	int all = PROT_READ | PROT_WRITE | PROT_EXEC;

	(void)question;
	if (mmap(NULL, PAGE, all, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
		return failed("memory that is written and executed");
	return fine(0);
}

/* For a guest's memory in QEMU. */
struct answer check_private(const struct question *question)
{
	if (mmap(NULL, question->memory_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		 -1, 0) == MAP_FAILED)
		return failed("memory of its own");
	return fine(0);
}

struct answer check_address(const struct question *question)
{
	void *wanted = (void *)STUB_ADDRESS; // NOLINT
	void *found = mmap(wanted, PAGE, PROT_READ | PROT_EXEC,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	(void)question;
	if (found == MAP_FAILED)
		return failed("a mapping at 1 MiB");
	return fine(0);
}

/* Changes every other page, so that the kernel cannot merge neighbouring mappings. */
struct answer check_mappings(const struct question *question)
{
	char *room = mmap(NULL, 2 * MAPPINGS * PAGE, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct answer answer;

	(void)question;
	if (room == MAP_FAILED)
		return failed("address space");
	for (long count = 0; count < MAPPINGS / 2; count++) {
		if (mprotect(room + 2 * count * PAGE, PAGE, PROT_READ)) {
			answer = failed("many mappings");
			answer.value = 2 * count;
			return answer;
		}
	}
	return fine(MAPPINGS);
}
