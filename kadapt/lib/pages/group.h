/* SPDX-License-Identifier: MIT */
/* The control groups that a process is in, and what memory they leave it. */
#ifndef LIBKADAPT_GROUP_H
#define LIBKADAPT_GROUP_H

#include <stddef.h>

#include "base/device_file.h"

/*
 * Whether each group that limits the process's memory has room for so many bytes
 * and a sixteenth of its limit besides. True where none limits it.
 */
KADAPT_HIDDEN int kadapt_group_has_room(size_t bytes);

#endif
