// SPDX-License-Identifier: GPL-2.0-or-later
/* The file that is written and read: unlinked, so that nothing is left behind. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "lab.h"

static int sink = -1;

int sink_open(void)
{
	sink = open(setting.sink, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	return sink < 0 ? -errno : sink;
}

/* Empty and at its beginning. */
int sink_rewind(void)
{
	if (ftruncate(sink, 0) || lseek(sink, 0, SEEK_SET))
		return -errno;
	return 0;
}

void sink_close(void)
{
	if (sink >= 0)
		close(sink);
	sink = -1;
}

const char *sink_file_system(void)
{
	static char number[32];
	struct statfs about;

	if (statfs(setting.sink, &about))
		return "none";
	switch (about.f_type) {
	case TMPFS_MAGIC:
		return "tmpfs";
	case RAMFS_MAGIC:
		return "ramfs";
	case EXT4_SUPER_MAGIC:
		return "ext4";
	case V9FS_MAGIC:
		return "9p";
	case OVERLAYFS_SUPER_MAGIC:
		return "overlay";
	}
	snprintf(number, sizeof(number), "0x%lx", (unsigned long)about.f_type);
	return number;
}
