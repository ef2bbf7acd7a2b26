/* SPDX-License-Identifier: MIT */
/* Begin and end of the process's rings. */
#ifndef LIBKADAPT_BEGIN_H
#define LIBKADAPT_BEGIN_H

#include "base/device_file.h"

/* Interposed calls use rings, too: KADAPT_PLAN_STREAMS. */
extern int kadapt_has_stream_rings KADAPT_HIDDEN;

/* The process is under seccomp(2): every call must be the program's own. */
extern int kadapt_is_filtered KADAPT_HIDDEN;

#endif
