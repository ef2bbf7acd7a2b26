// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "pages/machine.h"

/* Uses system calls: the C library's functions may be interposed, even by this library. */
size_t kadapt_machine_read_file(const char *name, char *text, size_t room)
{
	int file = (int)syscall(SYS_openat, AT_FDCWD, name, O_RDONLY | O_CLOEXEC);
	long length = file < 0 ? -1 : syscall(SYS_read, file, text, room - 1);

	if (file >= 0)
		syscall(SYS_close, file);
	text[length > 0 ? length : 0] = '\0';
	return length > 0 ? (size_t)length : 0;
}

int kadapt_machine_file_has(const char *name, const char *text)
{
	char content[256];

	return kadapt_machine_read_file(name, content, sizeof(content)) && strstr(content, text);
}

size_t kadapt_machine_bytes(void)
{
	return (size_t)sysconf(_SC_PHYS_PAGES) << KADAPT_PAGE_SHIFT;
}

size_t kadapt_machine_bytes_available(void)
{
	static const char key[] = "MemAvailable:";
	char content[256];
	const char *found;

	kadapt_machine_read_file("/proc/meminfo", content, sizeof(content));
	found = strstr(content, key);
	return found ? strtoul(found + strlen(key), NULL, 10) * 1024 : 0;
}

int kadapt_machine_has_available(size_t bytes)
{
	struct sysinfo found;

	if (sysinfo(&found) == 0 && found.freeram * found.mem_unit >= bytes)
		return 1;
	return kadapt_machine_bytes_available() >= bytes;
}

size_t kadapt_machine_peak_resident(void)
{
	struct rusage usage;

	/* For one thread: the peak is the process's anyway, and nothing has to be added up. */
	return getrusage(RUSAGE_THREAD, &usage) ? 0 : (size_t)usage.ru_maxrss * 1024;
}
