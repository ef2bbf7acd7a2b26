// SPDX-License-Identifier: GPL-2.0-or-later
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "causes.h"

static void write_in(size_t size)
{
	int file = new_file("/tmp/w", 0);

	for (size_t done = 0; done < 100 * size && done < (1 << 20); done += size)
		check(write(file, block, size));
	for (size_t i = 100; size < 100 && i < 2000; i++)
		check(write(file, block, size));
	close(file);
}

void small_writes(void)
{
	write_in(16);
}

void large_writes(void)
{
	write_in(sizeof(block));
}

static void read_in(size_t size)
{
	int file = new_file("/tmp/r", 1 << 20);

	for (int i = 0; i < (size < 100 ? 2000 : 16); i++)
		check(read(file, into, size));
	close(file);
}

void small_reads(void)
{
	read_in(16);
}

void large_reads(void)
{
	read_in(sizeof(block));
}

static void open_with(int flags)
{
	for (int i = 0; i < 40; i++) {
		int file = open("/tmp/t", O_RDWR | O_CREAT | flags, 0600);

		check(write(file, block, 16 << 10));
		close(file);
	}
}

void truncating(void)
{
	open_with(O_TRUNC);
}

void overwriting(void)
{
	open_with(0);
}

void missing_names(void)
{
	struct stat status;
	char name[32];

	for (int i = 0; i < 300; i++) {
		sprintf(name, "/tmp/none%d", i);
		stat(name, &status);
	}
}

void known_names(void)
{
	struct stat status;

	close(new_file("/tmp/some", 0));
	for (int i = 0; i < 300; i++)
		stat("/tmp/some", &status);
}

static void sync_after(int writes)
{
	int file = new_file("/tmp/s", 0);

	for (int i = 0; i < 100; i++) {
		check(write(file, block, 4096));
		if (i % writes == 0)
			fsync(file);
	}
	close(file);
}

void fsync_each(void)
{
	sync_after(1);
}

void fsync_seldom(void)
{
	sync_after(50);
}

static void scan(int times)
{
	char name[32];

	mkdir("/tmp/d", 0700);
	for (int i = 0; i < 50; i++) {
		sprintf(name, "/tmp/d/%d", i);
		close(open(name, O_CREAT | O_RDWR, 0600));
	}
	for (int i = 0; i < times; i++) {
		DIR *directory = opendir("/tmp/d");

		while (readdir(directory))
			;
		closedir(directory);
	}
}

void scan_often(void)
{
	scan(100);
}

void scan_once(void)
{
	scan(1);
}

void stat_often(void)
{
	struct stat status;

	for (int i = 0; i < 1000; i++)
		stat("/tmp", &status);
}

void stat_once(void)
{
	struct stat status;

	stat("/tmp", &status);
}

void remove_many(void)
{
	char name[32];

	for (int i = 0; i < 200; i++) {
		sprintf(name, "/tmp/u%d", i);
		close(open(name, O_CREAT | O_RDWR, 0600));
		unlink(name);
	}
}

void reuse_one(void)
{
	for (int i = 0; i < 200; i++)
		close(open("/tmp/u", O_CREAT | O_RDWR, 0600));
	unlink("/tmp/u");
}

void rename_each(void)
{
	for (int i = 0; i < 100; i++) {
		int file = open("/tmp/new", O_CREAT | O_RDWR, 0600);

		check(write(file, block, 64));
		close(file);
		rename("/tmp/new", "/tmp/old");
	}
}

void append_each(void)
{
	int file = open("/tmp/log", O_CREAT | O_RDWR | O_APPEND, 0600);

	for (int i = 0; i < 100; i++)
		check(write(file, block, 64));
	close(file);
}

void seek_often(void)
{
	int file = new_file("/tmp/k", 1 << 20);

	for (int i = 0; i < 1000; i++) {
		lseek(file, i * 64, SEEK_SET);
		check(read(file, into, 16));
	}
	close(file);
}

void read_at(void)
{
	int file = new_file("/tmp/k", 1 << 20);

	for (int i = 0; i < 1000; i++)
		check(pread(file, into, 16, i * 64));
	close(file);
}

static void lock_times(int times)
{
	int file = new_file("/tmp/l", 1 << 16);
	struct flock lock = {.l_whence = SEEK_SET, .l_len = 1};

	for (int i = 0; i < times; i++) {
		lock.l_type = F_WRLCK;
		check(fcntl(file, F_SETLK, &lock));
		lock.l_type = F_UNLCK;
		check(fcntl(file, F_SETLK, &lock));
	}
	close(file);
}

void lock_often(void)
{
	lock_times(500);
}

void lock_once(void)
{
	lock_times(1);
}

void format_often(void)
{

	for (int i = 0; i < 100; i++) {
		int file = open("/proc/self/stat", O_RDONLY);

		check(read(file, into, PAGE));
		close(file);
	}
}

void clock_often(void)
{
	struct timespec now;

	for (int i = 0; i < 100; i++)
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
}
