/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KADENCE_LAB_MOUNT_H
#define KADENCE_LAB_MOUNT_H

#include <sys/types.h>

/*
 * The type of the file system that is mounted with this device number, "unknown" where /proc does
 * not tell. statfs(2) would not do: on 9p it gives the type that the host has below.
 */
const char *mount_type(dev_t device);

#endif
