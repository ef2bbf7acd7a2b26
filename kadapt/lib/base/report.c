// SPDX-License-Identifier: MIT
/* The line of counters that a process appends to KADAPT_COUNTERS when it exits. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/counters_file.h"
#include "base/device_file.h"
#include "base/optional.h"
#include "libkadapt.h"
#include "base/quantum.h"

/* Room for 256 phases of eight 64-bit numbers. A longer line is not written. */
static char line[96 * 1024];

static int is_counted(int descriptor, uint32_t number, struct kadapt_counters *counters)
{
	*counters = (struct kadapt_counters){.phase = number, .flags = KADAPT_COUNTERS_PROCESS};
	return ioctl(descriptor, KADAPT_COUNTERS, counters) == 0;
}

static void add(struct kadapt_counters *sum, const struct kadapt_counters *more)
{
	sum->entries += more->entries;
	sum->time_ns += more->time_ns;
	sum->voluntary_switches += more->voluntary_switches;
	sum->involuntary_switches += more->involuntary_switches;
	sum->minor_faults += more->minor_faults;
	sum->major_faults += more->major_faults;
	sum->populated_bytes += more->populated_bytes;
}

/* The phase has several numbers if its quantum is tried. */
static int count(int descriptor, const struct kadapt_plan_policy *planned,
		 struct kadapt_counters *sum)
{
	const unsigned int others[] = {KADAPT_LEVEL_PLAIN, KADAPT_LEVEL_LESS};
	struct kadapt_counters more;

	if (!is_counted(descriptor, planned->phase, sum))
		return 0;
	for (int i = 0; kadapt_is_quantum_tried(planned) && i < 2; i++)
		if (is_counted(descriptor, kadapt_number_at(planned->phase, others[i]), &more))
			add(sum, &more);
	return 1;
}

/* Returns the bytes written to `text`; 0 if the kernel does not know the phase. */
static int print_phase(char *text, size_t room, int descriptor,
		       const struct kadapt_plan_policy *planned, int is_first)
{
	struct kadapt_counters counters;

	if (!count(descriptor, planned, &counters))
		return 0;
	return snprintf(text, room,
			"%s{\"phase\": %" PRIu32 ", \"entries\": %" PRIu64 ", \"time_ns\": %" PRIu64
			", \"voluntary_switches\": %" PRIu64 ", \"involuntary_switches\": %" PRIu64
			", \"minor_faults\": %" PRIu64 ", \"major_faults\": %" PRIu64
			", \"populated_bytes\": %" PRIu64 "}",
			is_first ? "" : ", ", planned->phase, (uint64_t)counters.entries,
			(uint64_t)counters.time_ns, (uint64_t)counters.voluntary_switches,
			(uint64_t)counters.involuntary_switches, (uint64_t)counters.minor_faults,
			(uint64_t)counters.major_faults, (uint64_t)counters.populated_bytes);
}

static int print_io(char *text, size_t room)
{
	struct kadapt_io_totals totals;

	if (!kadapt_io_count)
		return 0;
	kadapt_io_count(&totals);
	return snprintf(text, room,
			", \"io\": {\"appends\": %" PRIu64 ", \"bytes\": %" PRIu64
			", \"binds\": %" PRIu64 ", \"drains\": %" PRIu64 ", \"plain\": %" PRIu64
			"}",
			totals.appends, totals.bytes, totals.binds, totals.drains, totals.plain);
}

static int print_memory(char *text, size_t room)
{
	struct kadapt_memory_totals totals;

	if (!kadapt_memory_count || !kadapt_memory_count(&totals))
		return 0;
	return snprintf(text, room,
			", \"memory\": {\"blocks\": %" PRIu64 ", \"bytes\": %" PRIu64
			", \"again_bytes\": %" PRIu64 ", \"peak_bytes\": %" PRIu64
			", \"refused\": %" PRIu64 "}",
			totals.blocks, totals.bytes, totals.again_bytes, totals.peak_bytes,
			totals.refused);
}

/* Returns the length of the line, or 0 if it does not fit. */
static size_t print_line(int descriptor)
{
	size_t used =
	    (size_t)snprintf(line, sizeof(line), "{\"pid\": %ld, \"phases\": [", (long)getpid());
	size_t start = used;

	for (uint32_t i = 0; i < kadapt_plan.policies && used < sizeof(line); i++)
		used += (size_t)print_phase(line + used, sizeof(line) - used, descriptor,
					    &kadapt_plan.policy[i], used == start);
	if (used < sizeof(line))
		used += (size_t)snprintf(line + used, sizeof(line) - used, "]");
	if (used < sizeof(line))
		used += (size_t)print_io(line + used, sizeof(line) - used);
	if (used < sizeof(line))
		used += (size_t)print_memory(line + used, sizeof(line) - used);
	if (used < sizeof(line))
		used += (size_t)snprintf(line + used, sizeof(line) - used, "}\n");
	return used < sizeof(line) ? used : 0;
}

static int has_arena(void)
{
	struct kadapt_memory_totals totals;

	return kadapt_memory_count && kadapt_memory_count(&totals);
}

static void write_report(const char *name, int descriptor)
{
	size_t length = descriptor >= 0 || has_arena() ? print_line(descriptor) : 0;
	int file;

	if (!length)
		return;
	file = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (file < 0)
		return;
	/* One write keeps the lines of several processes whole. */
	if (write(file, line, length) < 0)
		line[0] = '\0';
	close(file);
}

__attribute__((destructor)) static void end(void)
{
	int saved_errno = errno;
	const char *name = kadapt_counters_file();

	if (name)
		write_report(name, atomic_load(&kadapt_device));
	errno = saved_errno;
}
