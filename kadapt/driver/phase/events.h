/* SPDX-License-Identifier: GPL-2.0-only */
/* The driver's tracepoint: the current task is in another phase. */
#ifndef _KADAPT_EVENTS_H
#define _KADAPT_EVENTS_H

#include <linux/tracepoint.h>
#include <linux/types.h>

#include "base/compat.h"

/* The phase's number, or KADAPT_NO_PHASE. */
COMPAT_DECLARE_TRACE(kadapt_phase, TP_PROTO(u32 phase), TP_ARGS(phase));

#endif /* _KADAPT_EVENTS_H */
