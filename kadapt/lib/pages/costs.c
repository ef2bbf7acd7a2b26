// SPDX-License-Identifier: MIT
/* Uses system calls where the C library's functions may be interposed. errno may change. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "pages/costs.h"
#include "pages/machine.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif

#define HUGE_PAGES "/sys/kernel/mm/transparent_hugepage/"
#define FILE_BYTES (KADAPT_COSTS_SUBJECT_BYTES + 256)

/* Returns family, model and stepping. Other architectures return 0: the subject names them. */
static unsigned int processor(void)
{
	unsigned int signature = 0;

#ifdef __x86_64__
	unsigned int rest[3];

	__get_cpuid(1, &signature, &rest[0], &rest[1], &rest[2]);
#endif
	return signature;
}

/* Reads the first line, or an empty one if the file cannot be read. */
static void read_line(const char *name, char *text, size_t room)
{
	kadapt_machine_read_file(name, text, room);
	text[strcspn(text, "\n")] = '\0';
}

void kadapt_costs_subject(char *text, size_t room)
{
	char given[64], effort[96], machine[64];
	struct utsname kernel = {0};

	uname(&kernel);
	read_line(HUGE_PAGES "enabled", given, sizeof(given));
	read_line(HUGE_PAGES "defrag", effort, sizeof(effort));
	read_line("/etc/machine-id", machine, sizeof(machine));
	snprintf(text, room, "%s %s %s; huge pages %s, %s; processor %x; machine %s",
		 kernel.release, kernel.version, kernel.machine, given, effort, processor(),
		 machine);
}

int kadapt_costs_folder(char *path, size_t room)
{
	/* The folders in which `kadence` keeps what it can make again. */
	static const struct {
		const char *variable, *below;
	} places[] = {
	    {"KADENCE_CACHE", ""}, {"XDG_CACHE_HOME", "/kadence"}, {"HOME", "/.cache/kadence"}};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		const char *base = secure_getenv(places[i].variable);

		if (base && *base)
			return *base == '/' && (size_t)snprintf(path, room, "%s%s/memory", base,
								places[i].below) < room;
	}
	return 0;
}

/* FNV-1a. Names may collide, so the file contains its subject. */
static uint64_t name_of(const char *subject)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (; *subject; subject++)
		hash = (hash ^ (unsigned char)*subject) * 0x100000001b3;
	return hash;
}

int kadapt_costs_path(char *path, size_t room, const char *subject)
{
	size_t length;

	if (!kadapt_costs_folder(path, room))
		return 0;
	length = strlen(path);
	return (size_t)snprintf(path + length, room - length, "/%016llx",
				(unsigned long long)name_of(subject)) < room - length;
}

static int is_own(int file)
{
	struct stat found;

	return fstat(file, &found) == 0 && S_ISREG(found.st_mode) && found.st_uid == geteuid() &&
	       !(found.st_mode & (S_IWGRP | S_IWOTH)) && found.st_nlink == 1;
}

/* Reads a file if it can be trusted. Returns the number of bytes read. */
static size_t read_own(const char *path, char *text, size_t room)
{
	int file = (int)syscall(SYS_openat, AT_FDCWD, path,
				O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	long length = -1;

	if (file < 0)
		return 0;
	if (is_own(file))
		length = syscall(SYS_read, file, text, room - 1);
	syscall(SYS_close, file);
	text[length > 0 ? length : 0] = '\0';
	return length > 0 ? (size_t)length : 0;
}

int kadapt_costs_read(const char *path, const char *subject, struct kadapt_costs *found)
{
	char text[FILE_BYTES], wanted[FILE_BYTES];

	if (!read_own(path, text, sizeof(text)))
		return 0;
	/* There are four valid contents. The file must begin with one of them, byte for byte. */
	for (int answer = 0; answer < 4; answer++) {
		int length = snprintf(wanted, sizeof(wanted), KADAPT_COSTS_FORMAT "%s\n",
				      answer & 1, answer >> 1, subject);

		if (length < (int)sizeof(wanted) && !strncmp(text, wanted, (size_t)length)) {
			*found = (struct kadapt_costs){answer & 1, answer >> 1};
			return 1;
		}
	}
	return 0;
}
