// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Moves from the initial RAM file system, which holds only init, to the host's files. A kernel that
 * starts init from the host's files, as User-Mode Linux does, needs no move.
 */
#include <linux/magic.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "init.h"

#define HOST "/host"
/*
 * The host's side is ../host_files.py. cache=mmap: reads and writes reach the host at once, and
 * files can be mapped for writing. Virtiofs is for stock kernels, some of which have no 9p.
 */
#define TAG "host"
#define OPTIONS "trans=virtio,version=9p2000.L,cache=mmap,msize=512000"

static bool in_initial_ram(void)
{
	struct statfs root;

	if (statfs("/", &root))
		return false;
	return root.f_type == RAMFS_MAGIC || root.f_type == TMPFS_MAGIC;
}

static bool in_machine;

bool root_in_machine(void)
{
	return in_machine;
}

void root_begin(void)
{
	in_machine = in_initial_ram();
	if (!in_machine)
		return;
	/* For /dev/kmsg, in case a later step fails. */
	mkdir("/dev", 0755);
	mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
}

void root_enter(void)
{
	if (!in_machine)
		return;
	mkdir(HOST, 0755);
	if (mount(TAG, HOST, "9p", 0, OPTIONS) && mount(TAG, HOST, "virtiofs", 0, NULL))
		give_up("the host's files by 9p or virtiofs");
	if (chdir(HOST) || mount(".", "/", NULL, MS_MOVE, NULL) || chroot(".") || chdir("/"))
		give_up("the host's files as root");
}
