// SPDX-License-Identifier: GPL-2.0-only
/* A unit that counts writes. */
#include <kadence/unit.h>
#include <linux/fs.h>
#include <linux/moduleparam.h>

static unsigned int count;
module_param(count, uint, 0444);

KADENCE_BEFORE(vfs_write, struct file *file, const char __user *buffer, size_t bytes,
	       loff_t *position)
{
	count++;
}

KADENCE_UNIT;
