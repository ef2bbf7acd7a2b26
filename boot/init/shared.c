// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the memory that is shared with the relay: see ../channel.h. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "init.h"

#define MMAPPER "/dev/mmapper"
/* QEMU's ivshmem (docs/specs/ivshmem-spec.txt): its second memory region is the shared one. */
#define DEVICES "/sys/bus/pci/devices/*/modalias"
#define IVSHMEM "pci:v00001AF4d00001110"
#define REGION "resource2"

static bool is_ivshmem(const char *modalias)
{
	char found[sizeof(IVSHMEM)] = "";
	int file = open(modalias, O_RDONLY | O_CLOEXEC);

	if (file < 0)
		return false;
	if (read(file, found, sizeof(found) - 1) < 0)
		found[0] = '\0';
	close(file);
	return strcmp(found, IVSHMEM) == 0;
}

/* A PCI device must be enabled before use. Its driver would do that, but here is none. */
static int open_region(char *modalias)
{
	char *name = strrchr(modalias, '/') + 1;
	char path[256];
	int enable;

	*name = '\0';
	snprintf(path, sizeof(path), "%senable", modalias);
	enable = open(path, O_WRONLY | O_CLOEXEC);
	if (enable < 0 || write(enable, "1", 1) != 1)
		give_up(path);
	close(enable);
	snprintf(path, sizeof(path), "%s" REGION, modalias);
	return open(path, O_RDWR | O_CLOEXEC);
}

static int open_ivshmem(void)
{
	int memory = -1;
	glob_t devices;

	if (glob(DEVICES, 0, NULL, &devices))
		return -1;
	for (size_t i = 0; i < devices.gl_pathc && memory < 0; i++)
		if (is_ivshmem(devices.gl_pathv[i]))
			memory = open_region(devices.gl_pathv[i]);
	globfree(&devices);
	return memory;
}

static struct channel *map(int memory, size_t length)
{
	void *shared = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);

	if (shared == MAP_FAILED)
		give_up(MMAPPER);
	return shared;
}

struct channel *shared_map(void)
{
	int memory = open(MMAPPER, O_RDWR | O_CLOEXEC);
	struct channel *channel;
	size_t length;

	if (memory < 0)
		memory = open_ivshmem();
	if (memory < 0)
		give_up(MMAPPER);
	channel = map(memory, sizeof(*channel));
	if (channel->magic != CHANNEL_MAGIC) {
		errno = EPROTO;
		give_up(MMAPPER);
	}
	length = channel->length;
	munmap(channel, sizeof(*channel));
	channel = map(memory, length);
	close(memory);
	return channel;
}
