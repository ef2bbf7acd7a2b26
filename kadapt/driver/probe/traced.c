// SPDX-License-Identifier: GPL-2.0-only
/* Calls of stubs by the function tracer. */
#include <linux/errno.h>
#include <linux/string.h>

#include "probe/places.h"

/* The filter's hash has been freed, but the ftrace_ops still points to it. */
static void forget(struct ftrace_ops *ops)
{
	memset(ops, 0, sizeof(*ops));
}

int kadapt_probe_register(struct kadapt_probe_calls *calls,
			  unsigned long *addresses, unsigned int count,
			  unsigned long stub)
{
	struct ftrace_ops *ops = &calls->ops;
	int error = ftrace_set_filter_ips(ops, addresses, count, 0, 1);

	if (!error)
		error = register_ftrace_direct(ops, stub);
	else if (error == -EINVAL)
		error = -ENOENT;	/* the tracer has no place there */
	if (error) {
		ftrace_free_filter(ops);
		forget(ops);
	}
	return error;
}

void kadapt_probe_unregister(struct kadapt_probe_calls *calls,
			     unsigned long stub)
{
	unregister_ftrace_direct(&calls->ops, stub, true);
	forget(&calls->ops);
}
