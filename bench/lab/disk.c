// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A disk in memory with ext4. The first operation that needs the disk copies the image beside the
 * program to the kernel's RAM disk and mounts it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "place.h"

#define IMAGE "/disk.ext4"
#define DISK "/dev/ram0"
#define DIRECTORY "/disk"

static int copy_image(void)
{
	int image = open(IMAGE, O_RDONLY | O_CLOEXEC);
	int disk = open(DISK, O_WRONLY | O_CLOEXEC);
	ssize_t moved = image < 0 || disk < 0 ? -1 : 1;

	while (moved > 0)
		moved = sendfile(disk, image, NULL, 1 << 20);
	if (image >= 0)
		close(image);
	if (disk >= 0)
		close(disk);
	return (int)moved;
}

const char *disk_directory(void)
{
	static int mounted;

	if (mounted)
		return DIRECTORY;
	if (mkdir(DIRECTORY, 0700) && errno != EEXIST)
		return NULL;
	if (copy_image() || mount(DISK, DIRECTORY, "ext4", 0, NULL))
		return NULL;
	mounted = 1;
	return DIRECTORY;
}
