/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the node's clock says at a value of the processor's counter. */
#ifndef KADENCE_OBSERVE_CLOCK_H
#define KADENCE_OBSERVE_CLOCK_H

#include <stdint.h>
#include <stdio.h>

struct clock_reading {
	uint64_t ticks;
	uint64_t ns;	       /* since 1970 */
	uint64_t around_ticks; /* the counter when the clock was read: this much before or after */
	long most_us;	       /* how wrong the clock is at most, by NTP; -1: nobody knows */
};

struct clock_reading clock_read(void);
void clock_print(FILE *out, const struct clock_reading *reading);

#endif
