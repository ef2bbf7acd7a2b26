/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The guest's clock, which QEMU's interface for plugins does not have. */
#ifndef KADENCE_LAB_CLOCK_H
#define KADENCE_LAB_CLOCK_H

#include <stdint.h>

/*
 * Virtual nanoseconds, including those in which the processor waited for a timer; 0 if this QEMU
 * does not export its functions.
 */
uint64_t clock_ns(void);

#endif
