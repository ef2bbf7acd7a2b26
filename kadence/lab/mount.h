/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KADENCE_LAB_MOUNT_H
#define KADENCE_LAB_MOUNT_H

#include <sys/types.h>

/*
 * Returns the type of the file system that is mounted with this device number, or "unknown" if
 * /proc does not have it. statfs(2) is no substitute: on 9p it gives the type of the host's file
 * system. The result lies in a static buffer, which the next call overwrites.
 */
const char *mount_type(dev_t device);

#endif
