/* SPDX-License-Identifier: MIT */
/* Begin and end of the process's I/O paths. */
#ifndef LIBKADAPT_IO_H
#define LIBKADAPT_IO_H

#include "device_file.h"

/* Calls that were not redirected use rings, too: KADAPT_PLAN_STREAMS. */
extern int kadapt_has_stream_rings KADAPT_HIDDEN;

/* A filter judges the process's calls: each must be the program's own. */
extern int kadapt_is_filtered KADAPT_HIDDEN;

/* Before the program goes under seccomp(2): no calls of the device from here on. */
KADAPT_HIDDEN void kadapt_io_stop(void);

#endif
