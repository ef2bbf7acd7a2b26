// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The report: lines of a key and a value, then the line "log" and the guest's log to the end.
 *
 * outcome     finished, failed (see failure), died, not-executed (see error), interrupted,
 *             boot-timeout, timeout, hang
 * The other keys are named after their unit and explained by kadence/boot/session.py.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "relay.h"

static int64_t microseconds(const struct timeval *time)
{
	return time->tv_sec * INT64_C(1000000) + time->tv_usec;
}

static void number(FILE *file, const char *key, int64_t value)
{
	fprintf(file, "%s %" PRId64 "\n", key, value);
}

static void write_result(FILE *file, const struct channel_result *result)
{
	const struct rusage *usage = &result->usage;

	number(file, "wait_status", result->wait_status);
	number(file, "booted_ns", result->booted_ns);
	number(file, "wall_ns", result->wall_ns);
	number(file, "user_us", microseconds(&usage->ru_utime));
	number(file, "system_us", microseconds(&usage->ru_stime));
	number(file, "voluntary_switches", usage->ru_nvcsw);
	number(file, "involuntary_switches", usage->ru_nivcsw);
	number(file, "minor_faults", usage->ru_minflt);
	number(file, "major_faults", usage->ru_majflt);
	number(file, "max_resident_kib", usage->ru_maxrss);
}

void report_write(int descriptor, const struct ending *ending, const struct kernel *kernel,
		  const struct channel *channel, const struct log *log)
{
	FILE *file = fdopen(descriptor, "w");

	if (!file)
		fail("the report");
	fprintf(file, "outcome %s\n", ending->outcome);
	fprintf(file, "failure %.255s\n", channel->failure);
	number(file, "error", kernel->error);
	number(file, "kernel_status", kernel->status);
	number(file, "interrupted_by", ending->interrupted_by);
	number(file, "boot_ns", ending->boot_ns);
	write_result(file, &channel->result);
	fprintf(file, "log\n");
	fwrite(log->bytes, 1, log->length, file);
	if (fclose(file))
		fail("the report");
}
