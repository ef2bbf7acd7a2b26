/* SPDX-License-Identifier: MIT */
/* Whether this process began under seccomp(2). */
#ifndef LIBKADAPT_FILTERED_H
#define LIBKADAPT_FILTERED_H

#include "base/device_file.h"

/*
 * A filter may kill for any call that the plain program does not make, also for
 * prctl(PR_GET_SECCOMP). The dynamic linker has opened and read files, so reading one more
 * is allowed. What cannot be read counts as a filter.
 */
KADAPT_HIDDEN int kadapt_is_under_filter(void);

#endif
