// SPDX-License-Identifier: GPL-2.0-only
/* Stops all processors for a millisecond, as kpatch did: what the bench must see. */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/stop_machine.h>

static int wait_stopped(void *data)
{
	mdelay(1);
	return 0;
}

static int __init halt_init(void)
{
	return stop_machine(wait_stopped, NULL, NULL);
}

static void __exit halt_exit(void)
{
}

module_init(halt_init);
module_exit(halt_exit);
MODULE_DESCRIPTION("Stops all processors for a millisecond");
MODULE_LICENSE("GPL");
