// SPDX-License-Identifier: GPL-2.0-or-later
/* Records one system call: its number, a socket family, a file system, or an existing file. */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "watch.h"

/* Only names in these folders are recorded. */
static const char *const folders[] = {"/dev/", "/proc/", "/sys/"};

/* Reads memory of another process; returns fewer bytes than asked for if its memory ends. */
static ssize_t bytes_of(pid_t process, unsigned long long address, void *bytes, size_t size)
{
	char name[64];
	ssize_t got;
	int memory;

	snprintf(name, sizeof(name), "/proc/%d/mem", process);
	memory = open(name, O_RDONLY | O_CLOEXEC);
	if (memory < 0)
		return -1;
	got = pread(memory, bytes, size, (off_t)address);
	close(memory);
	return got;
}

static bool text_of(pid_t process, unsigned long long address, char *text, size_t size)
{
	ssize_t got = address ? bytes_of(process, address, text, size) : -1;

	return got > 0 && memchr(text, '\0', (size_t)got);
}

static void note_file_system(struct findings *findings, pid_t process, unsigned long long address)
{
	char name[NAME_SIZE];

	if (!text_of(process, address, name, sizeof(name)) || strpbrk(name, " \n"))
		return;
	for (size_t i = 0; i < findings->file_system_count; i++)
		if (!strcmp(findings->file_systems[i], name))
			return;
	if (findings->file_system_count < NAMES)
		strcpy(findings->file_systems[findings->file_system_count++], name);
}

static void note_named(struct findings *findings, const char *name)
{
	if (findings->file_system_count < NAMES)
		snprintf(findings->file_systems[findings->file_system_count++], NAME_SIZE, "%s",
			 name);
}

/* Gets the folder that a relative name starts from; returns true on success. */
static bool folder_of(pid_t process, int descriptor, char *folder, size_t size)
{
	char link[64];
	ssize_t length;

	if (descriptor == AT_FDCWD)
		snprintf(link, sizeof(link), "/proc/%d/cwd", process);
	else
		snprintf(link, sizeof(link), "/proc/%d/fd/%d", process, descriptor);
	length = readlink(link, folder, size - 1);
	folder[length > 0 ? length : 0] = '\0';
	return length > 0;
}

static bool starts_with(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

static bool is_looked_at(const char *name)
{
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (starts_with(name, folders[i]))
			return true;
	return false;
}

/* /proc/self and /proc/4711 both become /proc/PID, as in the patterns. */
static void write_general(const char *name, char *general, size_t size)
{
	const char *rest = name + strlen("/proc/");
	size_t digits;

	snprintf(general, size, "%s", name);
	if (!starts_with(name, "/proc/"))
		return;
	digits = strspn(rest, "0123456789");
	if (starts_with(rest, "self/"))
		digits = strlen("self");
	else if (starts_with(rest, "thread-self/"))
		digits = strlen("thread-self");
	if (digits)
		snprintf(general, size, "/proc/PID%s", rest + digits);
}

/* Whether a file exists for `process`, whose /proc/self differs from the watcher's. */
static bool exists(pid_t process, const char *name)
{
	char absolute[2 * PATH_MAX];

	snprintf(absolute, sizeof(absolute), "%s", name);
	if (starts_with(name, "/proc/self/"))
		snprintf(absolute, sizeof(absolute), "/proc/%d/%s", process,
			 name + strlen("/proc/self/"));
	return !access(absolute, F_OK);
}

static void note_file(struct findings *findings, pid_t process, int folder,
		      unsigned long long address)
{
	char written[PATH_MAX], name[2 * PATH_MAX] = "", general[2 * PATH_MAX];

	if (!text_of(process, address, written, sizeof(written)))
		return;
	if (written[0] != '/') {
		if (!folder_of(process, folder, name, PATH_MAX))
			return;
		if (strcmp(name, "/"))
			strcat(name, "/");
	}
	strcat(name, written);
	if (!is_looked_at(name))
		return;
	write_general(name, general, sizeof(general));
	for (size_t i = 0; i < findings->pattern_count; i++)
		if (!findings->opened[i] && !fnmatch(findings->patterns[i], general, 0))
			findings->opened[i] = exists(process, name);
}

/* Whether clone3, whose arguments are in memory, asks for a namespace. */
static bool makes_namespace(pid_t process, unsigned long long address)
{
	uint64_t flags;

	return bytes_of(process, address, &flags, sizeof(flags)) == sizeof(flags) &&
	       flags & (NAMESPACES | CLONE_NEWTIME);
}

static void note_call(struct findings *findings, int call)
{
	if (call >= 0 && call < CALLS)
		findings->made[call] = true;
}

/* The command cannot depend on a family that this kernel lacks. */
static void note_family(struct findings *findings, const unsigned long long *words)
{
	int family = (int)words[0], probe;

	if (family < 0 || family >= FAMILIES || findings->families[family])
		return;
	probe = socket(family, (int)words[1] | SOCK_CLOEXEC, (int)words[2]);
	findings->families[family] = probe >= 0 || errno != EAFNOSUPPORT;
	if (probe >= 0)
		close(probe);
}

void observe(struct findings *findings, pid_t process, int call, const unsigned long long *words)
{
	switch (call) {
	case SYS_socket:
	case SYS_socketpair:
		note_family(findings, words);
		break;
	case SYS_open:
	case SYS_creat:
		note_file(findings, process, AT_FDCWD, words[0]);
		break;
	case SYS_openat:
	case SYS_openat2:
		note_file(findings, process, (int)words[0], words[1]);
		break;
	case SYS_mount:
		if (!(words[3] & (MS_BIND | MS_REMOUNT | MS_MOVE)))
			note_file_system(findings, process, words[2]);
		break;
	case SYS_fsopen:
		note_file_system(findings, process, words[0]);
		break;
	case SYS_clone:
	case SYS_unshare:
		note_call(findings, SYS_unshare);
		break;
	case SYS_clone3:
		if (makes_namespace(process, words[0]))
			note_call(findings, SYS_unshare);
		break;
	case SYS_prctl:
		note_call(findings, SYS_seccomp);
		break;
	case SYS_mmap:
	case SYS_memfd_create:
		note_named(findings, "hugetlbfs");
		break;
	default:
		note_call(findings, call);
	}
}
