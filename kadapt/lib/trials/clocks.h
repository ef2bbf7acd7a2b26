/* SPDX-License-Identifier: MIT */
/* What the process has taken up to now, in nanoseconds and events. */
#ifndef LIBKADAPT_TRIALS_CLOCKS_H
#define LIBKADAPT_TRIALS_CLOCKS_H

#include <stdint.h>
#include <time.h>

#include "base/device_file.h"

/* What the process used, besides wall time. */
struct kadapt_used {
	uint64_t task_ns, system_ns; /* of all threads */
	uint64_t faults, involuntary_switches;
};

KADAPT_HIDDEN double kadapt_clock_read(clockid_t clock);
KADAPT_HIDDEN double kadapt_now_ns(void);
KADAPT_HIDDEN struct kadapt_used kadapt_used_now(void);
KADAPT_HIDDEN struct kadapt_used kadapt_used_since(const struct kadapt_used *begun);

/* What reading the clock takes. On User-Mode Linux that is a system call. */
KADAPT_HIDDEN double kadapt_price_of_clock(void);

#endif
