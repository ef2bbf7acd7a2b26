/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _KADAPT_COUNTERS_H
#define _KADAPT_COUNTERS_H

#include <linux/atomic.h>
#include <linux/types.h>

struct kadapt_counters;
struct task_struct;

/* One task's counters of one phase; only that task accesses them. */
struct kadapt_count {
	u64 entries;
	u64 time_ns;
	u64 voluntary_switches;
	u64 involuntary_switches;
	u64 minor_faults;
	u64 major_faults;
	u64 populated_bytes;
};

/* All tasks' counters of one phase: the stays that have ended. */
struct kadapt_total {
	atomic64_t entries;
	atomic64_t time_ns;
	atomic64_t voluntary_switches;
	atomic64_t involuntary_switches;
	atomic64_t minor_faults;
	atomic64_t major_faults;
	atomic64_t populated_bytes;
};

/* A task's clocks when its phase began. */
struct kadapt_start {
	u64 time_ns;
	u64 voluntary_switches;
	u64 involuntary_switches;
	u64 minor_faults;
	u64 major_faults;
	u64 populated_bytes;	/* counted here: a task has no clock for it */
};

void kadapt_start_at(struct kadapt_start *start, u64 now_ns);
struct kadapt_count kadapt_count_since(const struct kadapt_start *start,
				       const struct task_struct *task,
				       u64 end_ns);
void kadapt_count_add(struct kadapt_count *count,
		      const struct kadapt_count *stay);
void kadapt_total_add(struct kadapt_total *total,
		      const struct kadapt_count *stay);
struct kadapt_count kadapt_total_read(const struct kadapt_total *total);
void kadapt_count_report(const struct kadapt_count *count,
			 struct kadapt_counters *counters);

#endif /* _KADAPT_COUNTERS_H */
