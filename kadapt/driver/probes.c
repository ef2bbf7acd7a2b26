// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the kernel tells us of births and deaths: two tracepoints. They are not
 * exported by name, but the list of all tracepoints is. task_newtask and not
 * sched_process_fork, because it also sees the kernel's threads for io_uring,
 * which are copied from the user's task and would inherit its slice.
 */
#include <linux/errno.h>
#include <linux/printk.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "probes.h"
#include "task.h"

static void on_newtask(void *data, struct task_struct *child,
		       unsigned long clone_flags)
{
	kadapt_task_forked(child);
}

static void on_exit(void *data, struct task_struct *task)
{
	kadapt_task_exits();
}

struct probe {
	const char *name;
	void *function;
	struct tracepoint *tracepoint;
};

static struct probe probes[] = {
	{ .name = "task_newtask", .function = on_newtask },
	{ .name = "sched_process_exit", .function = on_exit },
};

static void match(struct tracepoint *tracepoint, void *unused)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(probes); i++)
		if (!strcmp(tracepoint->name, probes[i].name))
			probes[i].tracepoint = tracepoint;
}

static void detach(size_t count)
{
	while (count--)
		tracepoint_probe_unregister(probes[count].tracepoint,
					    probes[count].function, NULL);
	tracepoint_synchronize_unregister();
}

int kadapt_probes_attach(void)
{
	size_t i;
	int error;

	for_each_kernel_tracepoint(match, NULL);
	for (i = 0; i < ARRAY_SIZE(probes); i++) {
		if (probes[i].tracepoint)
			error = tracepoint_probe_register(probes[i].tracepoint,
							  probes[i].function,
							  NULL);
		else
			error = -ENOENT;
		if (error) {
			pr_err("no tracepoint %s: %d\n", probes[i].name, error);
			detach(i);
			return error;
		}
	}
	return 0;
}

void kadapt_probes_detach(void)
{
	detach(ARRAY_SIZE(probes));
}
