// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * io-selftest [NAME...]: libkadapt's I/O, on a kernel with the device. Cases named batch_ need no
 * device. Only the redirected calls use rings here. All other calls are plain, and the cases
 * compare with them.
 */
#include <stddef.h>
#include <sys/mount.h>
#include <unistd.h>

#include "cases.h"
#include "device.h"
#include "base/optional.h"
#include "libkadapt.h"

const struct kadapt_plan kadapt_plan = {
    .abi = KADAPT_PLAN_ABI,
    .policies = 1,
    .flags = KADAPT_PLAN_IO,
    .policy = {{.phase = SLOW_PHASE, .file_delay_ns = KADAPT_DELAY_MAX_NS}},
};

uint64_t appends(void)
{
	struct kadapt_io_totals now;

	kadapt_io_count(&now);
	return now.appends;
}

int main(int count, char **arguments)
{
	const struct test_case *const tables[] = {
	    burst_cases,  life_cases,  midst_cases,  process_cases, jump_cases,		step_cases,
	    thread_cases, order_cases, filter_cases, flush_cases,   flush_change_cases, end_cases,
	    around_cases, size_cases,  batch_cases,  NULL,
	};

	(void)count;
	/* A file system of the guest, for which rings can be bound in every guest. */
	if (!access(DEVICE, F_OK) && mount("none", "/tmp", "tmpfs", 0, NULL))
		return FAILED;
	return run_cases(tables, arguments + 1);
}
