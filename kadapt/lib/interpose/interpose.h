/* SPDX-License-Identifier: MIT */
#ifndef LIBKADAPT_INTERPOSE_H
#define LIBKADAPT_INTERPOSE_H

#include "base/device_file.h"

/* A reference makes the linker put the interposed functions into the program. */
extern const void *const kadapt_interposed_calls KADAPT_HIDDEN;

#endif
