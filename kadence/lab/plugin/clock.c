// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * QEMU 7.2 counts a processor's instructions in its clock when an instruction asks for the time,
 * and ends with an error if something else asks. icount_update() does the same for the block that
 * runs, and without a current processor the clock is then only read (softmmu/icount.c).
 */
#include <dlfcn.h>
#include <stddef.h>

#include "clock.h"

enum { QEMU_CLOCK_VIRTUAL = 1 };

int64_t qemu_clock_get_ns(int clock) __attribute__((weak));
void icount_update(void *processor) __attribute__((weak));

uint64_t clock_ns(void)
{
	static __thread void **current_cpu;
	void *processor;
	int64_t now;

	if (!current_cpu)
		current_cpu = dlsym(RTLD_DEFAULT, "current_cpu");
	if (!current_cpu || !qemu_clock_get_ns || !icount_update)
		return 0;
	processor = *current_cpu;
	if (processor)
		icount_update(processor);
	*current_cpu = NULL;
	now = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
	*current_cpu = processor;
	return (uint64_t)now;
}
