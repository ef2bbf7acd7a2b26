// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * io-selftest [NAME...]: libkadapt's I/O paths, on a kernel with the device. Cases
 * named batch_ do without.
 */
#include <stddef.h>

#include "cases.h"
#include "kadapt.h"
#include "libkadapt.h"

const struct kadapt_plan kadapt_plan = {
    .abi = KADAPT_PLAN_ABI,
    .policies = 1,
    .flags = KADAPT_PLAN_IO,
    .policy = {{.phase = SLOW_PHASE,
		.file_delay_ns = KADAPT_DELAY_MAX_NS,
		.stream_delay_ns = KADAPT_DELAY_MAX_NS}},
};

int main(int count, char **arguments)
{
	const struct test_case *const tables[] = {
	    settle_cases, burst_cases,	       life_cases,	 midst_cases,
	    stream_cases, stream_change_cases, end_cases,	 batch_cases,
	    read_cases,	  read_use_cases,      read_midst_cases, NULL,
	};

	(void)count;
	return run_cases(tables, arguments + 1);
}
