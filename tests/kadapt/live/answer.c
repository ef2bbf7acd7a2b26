// SPDX-License-Identifier: GPL-2.0-only
/* A function whose variant is seen in what it returns. */
#include <kadence/unit.h>
#include <linux/ptrace.h>

#define MORE 100000

KADENCE_REPLACES(__x64_sys_getppid, long, const struct pt_regs *registers)
{
	return MORE + KADENCE_ORIGINAL(__x64_sys_getppid)(registers);
}

KADENCE_UNIT;
