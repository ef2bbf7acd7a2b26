// SPDX-License-Identifier: GPL-2.0-or-later
/* Touches by descriptor and by name, each with the calls of one family. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/falloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "guard_touches.h"
#include "ring.h"

long by_write(int file)
{
	return write(file, TEXT, 5);
}

long by_writev(int file)
{
	const struct iovec pieces[] = {{(void *)"af", 2}, {(void *)"ter", 3}};

	return writev(file, pieces, 2);
}

long by_pwrite(int file)
{
	return pwrite(file, TEXT, 5, 9);
}

long by_pwritev2(int file)
{
	const struct iovec piece = {(void *)TEXT, 5};

	return pwritev2(file, &piece, 1, -1, RWF_APPEND);
}

long by_read(int file)
{
	char found[8];

	return read(file, found, sizeof(found));
}

long by_pread(int file)
{
	char found[64] = "";

	return pread(file, found, sizeof(found), 0) + 1000 * strcmp(found, BEFORE PENDING);
}

long by_seek(int file)
{
	return lseek(file, 0, SEEK_CUR);
}

long by_seek_end(int file)
{
	return lseek(file, -2, SEEK_END);
}

long by_truncate(int file)
{
	return ftruncate(file, 9);
}

long by_allocate(int file)
{
	return fallocate(file, 0, 0, 64);
}

long by_punch(int file)
{
	return fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096);
}

long by_reserving(int file)
{
	return fallocate(file, FALLOC_FL_KEEP_SIZE, 0, 1 << 20);
}

long by_sync(int file)
{
	return fsync(file);
}

long by_times(int file)
{
	const struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 2}};

	return futimens(file, times);
}

long by_mode(int file)
{
	return fchmod(file, 04755);
}

long by_attribute(int file)
{
	return fsetxattr(file, "trusted.kadapt", "1", 1, 0) ? -errno : 0;
}

long by_mapping(int file)
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

long by_sendfile_to(int file)
{
	int source = source_of(TEXT);
	long answer = sendfile(file, source, NULL, 5);

	close(source);
	return answer;
}

long by_sendfile_from(int file)
{
	int target = memfd_create("target", 0);
	off_t offset = 0;
	long answer = sendfile(target, file, &offset, 100);

	close(target);
	return answer;
}

long by_splice(int file)
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

long by_copy_range(int file)
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

long by_append_flag(int file)
{
	return fcntl(file, F_SETFL, O_APPEND);
}

long by_flock(int file)
{
	return flock(file, LOCK_EX) + flock(file, LOCK_UN);
}

long by_record_lock(int file)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_END, .l_start = -3};

	return fcntl(file, F_SETLK, &lock);
}

long by_advice(int file)
{
	return posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
}

static void *write_in_thread(void *file)
{
	return (void *)by_write(*(int *)file);
}

long by_thread(int file)
{
	void *answer = NULL;
	pthread_t thread;

	pthread_create(&thread, NULL, write_in_thread, &file);
	pthread_join(thread, &answer);
	return (long)answer;
}

/* Calls the kernel, so that no fork handler runs. The child shares the open file. */
long by_clone(int file)
{
	long child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	int status;

	if (!child)
		_exit(by_write(file) != 5);
	waitpid((pid_t)child, &status, 0);
	return status;
}

long by_copy(int file)
{
	int copy = dup(file);
	long answer = by_write(copy);

	close(copy);
	return answer;
}

long by_dup2(int file)
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

long by_aio(int file)
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
long by_open(int file)
{
	int other = open(name_of(file), O_WRONLY | O_APPEND | O_NONBLOCK);
	long answer = other < 0 ? -errno : write(other, TEXT, 5);

	close(other);
	return answer;
}

long by_open_truncating(int file)
{
	int other = open(name_of(file), O_WRONLY | O_TRUNC);
	long answer = other < 0 ? -errno : write(other, TEXT, 5);

	close(other);
	return answer;
}

long by_child_opening(int file)
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
long by_limited_child(int file)
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

long by_own_limit(int file)
{
	const struct rlimit none = {0, RLIM_INFINITY}, before = {RLIM_INFINITY, RLIM_INFINITY};
	long answer;

	syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, &none, NULL);
	answer = lseek(file, 0, SEEK_CUR);
	syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, &before, NULL);
	return answer;
}

long by_name_truncate(int file)
{
	return truncate(name_of(file), 9);
}

long by_name_mode(int file)
{
	return chmod(name_of(file), 04755);
}

long by_name_times(int file)
{
	const struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 2}};

	return utimensat(AT_FDCWD, name_of(file), times, 0);
}

long by_name_attribute(int file)
{
	return setxattr(name_of(file), "trusted.kadapt", "1", 1, 0) ? -errno : 0;
}

long by_status(int file)
{
	struct stat status;

	return fstat(file, &status) ? -errno : status.st_size;
}

long by_name_status(int file)
{
	struct stat status;

	return stat(name_of(file), &status) ? -errno : status.st_size;
}
