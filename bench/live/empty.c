// SPDX-License-Identifier: GPL-2.0-only
/* Does nothing: what the kernel takes to load any module. */
#include <linux/module.h>

static int __init empty_init(void)
{
	return 0;
}

static void __exit empty_exit(void)
{
}

module_init(empty_init);
module_exit(empty_exit);
MODULE_DESCRIPTION("Does nothing");
MODULE_LICENSE("GPL");
