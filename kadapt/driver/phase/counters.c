// SPDX-License-Identifier: GPL-2.0-only
/* Counting what happens in a phase: switches, faults, time, entries. */
#include <linux/sched.h>

#include "phase/counters.h"
#include "uapi/kadapt.h"

/* The current task's clocks. */
void kadapt_start_at(struct kadapt_start *start, u64 now_ns)
{
	start->time_ns = now_ns;
	start->voluntary_switches = current->nvcsw;
	start->involuntary_switches = current->nivcsw;
	start->minor_faults = current->min_flt;
	start->major_faults = current->maj_flt;
	start->populated_bytes = 0;
}

/* The stay of @task that began at @start and ends at @end_ns, as one entry. */
struct kadapt_count kadapt_count_since(const struct kadapt_start *start,
				       const struct task_struct *task,
				       u64 end_ns)
{
	return (struct kadapt_count){
		.entries = 1,
		.time_ns = end_ns - start->time_ns,
		.voluntary_switches =
			task->nvcsw - start->voluntary_switches,
		.involuntary_switches =
			task->nivcsw - start->involuntary_switches,
		.minor_faults = task->min_flt - start->minor_faults,
		.major_faults = task->maj_flt - start->major_faults,
		.populated_bytes = start->populated_bytes,
	};
}

void kadapt_count_add(struct kadapt_count *count,
		      const struct kadapt_count *stay)
{
	count->entries += stay->entries;
	count->time_ns += stay->time_ns;
	count->voluntary_switches += stay->voluntary_switches;
	count->involuntary_switches += stay->involuntary_switches;
	count->minor_faults += stay->minor_faults;
	count->major_faults += stay->major_faults;
	count->populated_bytes += stay->populated_bytes;
}

void kadapt_total_add(struct kadapt_total *total,
		      const struct kadapt_count *stay)
{
	atomic64_add(stay->entries, &total->entries);
	atomic64_add(stay->time_ns, &total->time_ns);
	atomic64_add(stay->voluntary_switches, &total->voluntary_switches);
	atomic64_add(stay->involuntary_switches, &total->involuntary_switches);
	atomic64_add(stay->minor_faults, &total->minor_faults);
	atomic64_add(stay->major_faults, &total->major_faults);
	atomic64_add(stay->populated_bytes, &total->populated_bytes);
}

struct kadapt_count kadapt_total_read(const struct kadapt_total *total)
{
	return (struct kadapt_count){
		.entries = atomic64_read(&total->entries),
		.time_ns = atomic64_read(&total->time_ns),
		.voluntary_switches = atomic64_read(&total->voluntary_switches),
		.involuntary_switches =
			atomic64_read(&total->involuntary_switches),
		.minor_faults = atomic64_read(&total->minor_faults),
		.major_faults = atomic64_read(&total->major_faults),
		.populated_bytes = atomic64_read(&total->populated_bytes),
	};
}

void kadapt_count_report(const struct kadapt_count *count,
			 struct kadapt_counters *counters)
{
	counters->entries = count->entries;
	counters->time_ns = count->time_ns;
	counters->voluntary_switches = count->voluntary_switches;
	counters->involuntary_switches = count->involuntary_switches;
	counters->minor_faults = count->minor_faults;
	counters->major_faults = count->major_faults;
	counters->populated_bytes = count->populated_bytes;
}
