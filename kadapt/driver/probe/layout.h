/* SPDX-License-Identifier: GPL-2.0-only */
/* What the stubs and the C code agree on; tasks.c checks it. */
#ifndef _KADAPT_PROBE_LAYOUT_H
#define _KADAPT_PROBE_LAYOUT_H

/* struct kadapt_probe_record */
#define RECORD_BYTES		576
#define RECORD_INCLUSIVE	0
#define RECORD_CHILDREN		8
#define RECORD_RESULTS		16
#define RECORD_HISTOGRAM	64

/* enum kadapt_probe_kind */
#define KIND_TIME		1
#define KIND_BYTES_LONG		2
#define KIND_BYTES_INT		3
#define KIND_POINT		4
/* A counter whose cost is subtracted: what KADAPT_PROBE_COUNT is beside timers. */
#define KIND_CORRECTED		5
/* What also writes events: timers, in the order of the others, and points. */
#define KIND_TIME_EVENTS	6
#define KIND_POINT_EVENTS	9
#define KINDS			10

/* struct kadapt_probe_state */
#define STATE_AWAY		0
#define STATE_TOP		8
#define STATE_NUMBER		16

/* struct kadapt_probe_frame, and what the caller's call and the stub's pushed */
#define CALL_BEGIN		0
#define CALL_PARENT		8
#define CALL_RECORD		16
/* Timers that write events push the task's absence here; the others do not. */
#define CALL_AWAY		24
#define CALL_FUNCTION		24
#define CALL_AND_FUNCTION	32

/* Functions with stubs of their own: one more is for the calibration. */
#define OWN_STUBS		17
#define COUNTER_BYTES		32
#define CORRECTED_BYTES		64
#define TIMER_BYTES		256
#define EVENT_TIMER_BYTES	512

/* struct kadapt_probe_event */
#define EVENT_BYTES		32
#define EVENT_BEGIN		0
#define EVENT_END		8
#define EVENT_WHAT		16
#define EVENT_TASK		20
#define EVENT_SEQUENCE		24

#endif /* _KADAPT_PROBE_LAYOUT_H */
