// SPDX-License-Identifier: GPL-2.0-or-later
/* Writers that meet a full disk, or too little memory. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device.h"
#include "faults.h"
#include "writer.h"

#define DISK_OPTIONS "size=256k"
#define MORE_THAN_FITS 300000
#define GROUP_BYTES "2097152"
#define RECORDS_IN_SHORTAGE 80000

static const struct sequence sequence = {.size = 64, .seed = 42};

/* The writer of a case. It ends with 0 if it wrote everything, or if a write was refused. */
static void write_all(struct sink *sink, struct progress *progress, uint64_t count)
{
	struct writer writer;

	if (writer_begin(&writer, sink, progress, &sequence))
		_exit(FAILED);
	writer_write(&writer, count);
	_exit(PASSED);
}

static bool ended_well(pid_t writer)
{
	int status;

	return waitpid(writer, &status, 0) == writer && status == 0;
}

static enum outcome check_file(struct sink *sink, const struct progress *progress)
{
	struct seen seen = {.sequence = &sequence};

	CHECK(sink_open_written(sink) == 0);
	seen_file(&seen, sink->read_end);
	sink_close(sink);
	CHECK(seen_all(&seen, atomic_load(&progress->told)));
	CHECK(atomic_load(&progress->ringed));
	return PASSED;
}

static enum outcome write_file(const char *path, uint64_t count, struct progress *progress)
{
	struct sink sink = sink_at(path);
	pid_t writer = fork();

	if (writer == 0)
		write_all(&sink, progress, count);
	CHECK(ended_well(writer));
	return check_file(&sink, progress);
}

static enum outcome fill(const char *path)
{
	struct progress *progress = shared_memory(sizeof(*progress));

	CHECK(progress);
	if (write_file(path, MORE_THAN_FITS, progress) != PASSED)
		return FAILED;
	note("%lu records fitted, %lu of them by a ring",
	     (unsigned long)atomic_load(&progress->told),
	     (unsigned long)atomic_load(&progress->ringed));
	CHECK(atomic_load(&progress->refusal) == ENOSPC);
	return PASSED;
}

/* The disk is full at the same record as with write(2), and all earlier records are there. */
static enum outcome full_tmpfs(void)
{
	struct path place = in_directory("small");
	struct path path = in_directory("small/records");
	enum outcome outcome;

	mkdir(place.text, 0700);
	CHECK(mount("none", place.text, "tmpfs", 0, DISK_OPTIONS) == 0);
	outcome = fill(path.text);
	umount2(place.text, MNT_DETACH);
	return outcome;
}

static bool on_a_disk(void)
{
	struct stat about;

	return stat(setting.directory, &about) == 0 && major(about.st_dev);
}

static enum outcome full_disk(void)
{
	struct path path = in_directory("records");
	enum outcome outcome;

	if (!on_a_disk())
		return skip("the directory is on no disk");
	outcome = fill(path.text);
	unlink(path.text);
	return outcome;
}

static int write_text(const char *path, const char *text)
{
	int file = open(path, O_WRONLY | O_CLOEXEC);
	int result = file < 0 ? -1 : dprintf(file, "%s", text);

	if (file >= 0)
		close(file);
	return result < 0 ? -1 : 0;
}

static enum outcome in_small_group(struct progress *progress)
{
	struct path path = in_directory("records");

	mkdir(in_directory("groups/small").text, 0700);
	write_text(in_directory("groups/cgroup.subtree_control").text, "+memory");
	if (write_text(in_directory("groups/small/memory.max").text, GROUP_BYTES))
		return skip("control groups don't limit memory here");
	CHECK(write_text(in_directory("groups/small/cgroup.procs").text, "0") == 0);
	return write_file(path.text, RECORDS_IN_SHORTAGE, progress);
}

/* The file is larger than the memory that its writer may use, so the kernel writes pages back. */
static enum outcome short_memory(void)
{
	struct progress *progress = shared_memory(sizeof(*progress));
	struct path place = in_directory("groups");
	enum outcome outcome;

	if (!on_a_disk())
		return skip("the directory is on no disk, so its pages go nowhere");
	CHECK(progress);
	mkdir(place.text, 0700);
	if (mount("none", place.text, "cgroup2", 0, NULL))
		return skip("this kernel has no control groups");
	outcome = in_small_group(progress);
	umount2(place.text, MNT_DETACH);
	return outcome;
}

const struct test_case shortage_cases[] = {
    {"full_tmpfs", "a full tmpfs is met as by write, and nothing before it is lost", full_tmpfs},
    {"full_disk", "a full disk is met as by write, and nothing before it is lost", full_disk},
    {"short_memory", "a file larger than the memory of its writer is whole", short_memory},
    {0},
};
