/* SPDX-License-Identifier: MIT */
/* The control groups of the process, and how much memory they leave it. */
#ifndef LIBKADAPT_GROUP_H
#define LIBKADAPT_GROUP_H

#include <stddef.h>

#include "base/device_file.h"

/*
 * Returns whether each control group that limits the process's memory has room for
 * `bytes` and a sixteenth of its limit. True if no control group limits it.
 */
KADAPT_HIDDEN int kadapt_group_has_room(size_t bytes);

#endif
