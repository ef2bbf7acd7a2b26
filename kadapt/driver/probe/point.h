/* SPDX-License-Identifier: GPL-2.0-only */
/* The tracepoint by which the cost of tracepoints is measured. */
#ifndef _KADAPT_PROBE_POINT_H
#define _KADAPT_PROBE_POINT_H

#include <linux/tracepoint.h>
#include <linux/types.h>

#include "base/compat.h"

COMPAT_DECLARE_TRACE(kadapt_probe_calibrated, TP_PROTO(u64 number),
		     TP_ARGS(number));

#endif /* _KADAPT_PROBE_POINT_H */
