// SPDX-License-Identifier: GPL-2.0-or-later
/* The file that operations write and read. It has no name, so nothing is left behind. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lab.h"
#include "mount.h"

static int sink = -1;

/* Without a folder the file is on the kernel's internal tmpfs, which needs no mount. */
int sink_open(void)
{
	if (setting.sink)
		sink = open(setting.sink, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	else
		sink = memfd_create("sink", MFD_CLOEXEC);
	return sink < 0 ? -errno : sink;
}

/* Empties the file, and goes to its beginning. */
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
	struct stat about;

	if (!setting.sink)
		return "tmpfs";
	return stat(setting.sink, &about) ? "none" : mount_type(about.st_dev);
}
