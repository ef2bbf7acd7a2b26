// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/kadapt, a device with no hardware behind it: see uapi/kadapt.h for what
 * it does. Here: the device node, and which call goes where.
 */
#include <linux/fs.h>
#include <linux/minmax.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/uaccess.h>

#include "client.h"
#include "paths.h"
#include "quantum.h"
#include "ranges.h"
#include "task.h"
#include "uapi/kadapt.h"

/* As long as version 1's; a later structure keeps its first version's size. */
#define QUERY_SIZE_1	32
#define POLICY_SIZE_1	16
#define COUNTERS_SIZE_1	40
#define RING_SIZE_1	32
#define BINDING_SIZE_1	32
#define BATCH_SIZE_1	64
#define MEMORY_SIZE_1	40

static int kadapt_open(struct inode *inode, struct file *file)
{
	file->private_data = kadapt_client_create();
	return file->private_data ? 0 : -ENOMEM;
}

/* One of the descriptors is closed, perhaps not the last. */
static int kadapt_flush(struct file *file, fl_owner_t id)
{
	struct kadapt_client *client = file->private_data;

	/* A forked child that closes what it inherited closes nothing here. */
	if (kadapt_client_owned(client)) {
		kadapt_regions_close(client);
		kadapt_tasks_undo(client);
	}
	return 0;
}

static int kadapt_release(struct inode *inode, struct file *file)
{
	struct kadapt_client *client = file->private_data;

	kadapt_regions_close(client);
	kadapt_tasks_close(client);
	kadapt_client_put(client);
	return 0;
}

static int copy_in(void *to, size_t size, size_t size_1, unsigned int cmd,
		   const void __user *from)
{
	if (_IOC_SIZE(cmd) < size_1)
		return -EINVAL;
	return copy_struct_from_user(to, size, from, _IOC_SIZE(cmd));
}

static int copy_out(void __user *to, const void *from, size_t size,
		    size_t size_1, unsigned int cmd)
{
	size_t room = _IOC_SIZE(cmd);
	size_t known = min(room, size);

	if (room < size_1)
		return -EINVAL;
	if (copy_to_user(to, from, known) ||
	    clear_user(to + known, room - known))
		return -EFAULT;
	return 0;
}

static int call_query(unsigned int cmd, void __user *argument)
{
	struct kadapt_query query = {
		.version = KADAPT_VERSION,
		.phases = KADAPT_PHASES,
		.quantum_min_ns = kadapt_quantum_min_ns(),
		.quantum_max_ns = kadapt_quantum_max_ns(),
	};

	if (kadapt_quantum_supported())
		query.features |= KADAPT_FEATURE_QUANTUM;
	kadapt_paths_query(&query);
	kadapt_ranges_query(&query);
	return copy_out(argument, &query, sizeof(query), QUERY_SIZE_1, cmd);
}

static int call_define(struct kadapt_client *client, unsigned int cmd,
		       void __user *argument)
{
	struct kadapt_policy policy;
	int error = copy_in(&policy, sizeof(policy), POLICY_SIZE_1, cmd,
			    argument);

	return error ?: kadapt_client_define(client, &policy);
}

static int call_counters(struct kadapt_client *client, unsigned int cmd,
			 void __user *argument)
{
	struct kadapt_counters counters;
	int error = copy_in(&counters, sizeof(counters), COUNTERS_SIZE_1, cmd,
			    argument);

	error = error ?: kadapt_task_counters(client, &counters);
	return error ?: copy_out(argument, &counters, sizeof(counters),
				 COUNTERS_SIZE_1, cmd);
}

static int call_ring(struct kadapt_client *client, unsigned int cmd,
		     void __user *argument)
{
	struct kadapt_ring ring;
	int error = copy_in(&ring, sizeof(ring), RING_SIZE_1, cmd, argument);

	error = error ?: kadapt_paths_create(client, &ring);
	return error ?: copy_out(argument, &ring, sizeof(ring), RING_SIZE_1,
				 cmd);
}

static int call_bind(struct kadapt_client *client, unsigned int cmd,
		     void __user *argument)
{
	struct kadapt_binding binding;
	int error = copy_in(&binding, sizeof(binding), BINDING_SIZE_1, cmd,
			    argument);

	error = error ?: kadapt_paths_bind(client, &binding);
	return error ?: copy_out(argument, &binding, sizeof(binding),
				 BINDING_SIZE_1, cmd);
}

static int call_batch(unsigned int cmd, void __user *argument)
{
	struct kadapt_batch batch;
	int error = copy_in(&batch, sizeof(batch), BATCH_SIZE_1, cmd, argument);

	error = error ?: kadapt_batch_write(&batch);
	return error ?: copy_out(argument, &batch, sizeof(batch), BATCH_SIZE_1,
				 cmd);
}

static int call_memory(unsigned int cmd, void __user *argument)
{
	struct kadapt_memory memory;
	int error = copy_in(&memory, sizeof(memory), MEMORY_SIZE_1, cmd,
			    argument);

	error = error ?: kadapt_ranges_bind(&memory);
	return error ?: copy_out(argument, &memory, sizeof(memory),
				 MEMORY_SIZE_1, cmd);
}

/* The call's number without the size, by which structures may grow. */
#define without_size(cmd) ((cmd) & ~IOCSIZE_MASK)

/* The calls whose argument is a structure. */
static long call_with_structure(struct kadapt_client *client, unsigned int cmd,
				void __user *argument)
{
	switch (without_size(cmd)) {
	case without_size(KADAPT_DEFINE):
		return call_define(client, cmd, argument);
	case without_size(KADAPT_COUNTERS):
		return call_counters(client, cmd, argument);
	case without_size(KADAPT_RING):
		return call_ring(client, cmd, argument);
	case without_size(KADAPT_BIND):
		return call_bind(client, cmd, argument);
	case without_size(KADAPT_BATCH):
		return call_batch(cmd, argument);
	case without_size(KADAPT_MEMORY):
		return call_memory(cmd, argument);
	default:
		return -ENOTTY;
	}
}

static long kadapt_ioctl(struct file *file, unsigned int cmd,
			 unsigned long argument)
{
	struct kadapt_client *client = file->private_data;

	if (without_size(cmd) == without_size(KADAPT_QUERY))
		return call_query(cmd, (void __user *)argument);
	if (_IOC_TYPE(cmd) != KADAPT_TYPE)
		return -ENOTTY;
	if (!kadapt_client_owned(client))
		return -EPERM;
	switch (cmd) {
	case KADAPT_ENTER:
		return kadapt_task_enter(client, argument);
	case KADAPT_LEAVE:
		return argument ? -EINVAL : kadapt_task_leave(client);
	case KADAPT_DRAIN:
		return kadapt_paths_drain(client, argument);
	case KADAPT_UNBIND:
		return kadapt_paths_unbind(client, argument);
	default:
		return call_with_structure(client, cmd,
					   (void __user *)argument);
	}
}

static int kadapt_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct kadapt_client *client = file->private_data;

	if (!kadapt_client_owned(client))
		return -EPERM;
	return kadapt_regions_map(client, vma);
}

static const struct file_operations kadapt_fops = {
	.owner = THIS_MODULE,
	.open = kadapt_open,
	.flush = kadapt_flush,
	.release = kadapt_release,
	.unlocked_ioctl = kadapt_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = kadapt_mmap,
};

static struct miscdevice kadapt_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "kadapt",
	.mode = 0660,
	.fops = &kadapt_fops,
};

static int __init kadapt_init(void)
{
	int error;

	BUILD_BUG_ON(offsetofend(struct kadapt_query, quantum_max_ns) !=
		     QUERY_SIZE_1);
	BUILD_BUG_ON(offsetofend(struct kadapt_policy, quantum_ns) !=
		     POLICY_SIZE_1);
	BUILD_BUG_ON(offsetofend(struct kadapt_counters,
				 involuntary_switches) != COUNTERS_SIZE_1);
	BUILD_BUG_ON(sizeof(struct kadapt_ring) != RING_SIZE_1);
	BUILD_BUG_ON(sizeof(struct kadapt_binding) != BINDING_SIZE_1);
	BUILD_BUG_ON(sizeof(struct kadapt_batch) != BATCH_SIZE_1);
	BUILD_BUG_ON(sizeof(struct kadapt_memory) != MEMORY_SIZE_1);

	error = kadapt_regions_init();
	if (error)
		return error;
	error = kadapt_ranges_init();
	if (error)
		goto regions;
	kadapt_tasks_init();
	error = misc_register(&kadapt_device);
	if (error)
		goto tasks;
	return 0;

tasks:
	kadapt_tasks_exit();
	kadapt_ranges_exit();
regions:
	kadapt_regions_exit();
	return error;
}

static void __exit kadapt_exit(void)
{
	misc_deregister(&kadapt_device);
	kadapt_tasks_exit();
	kadapt_ranges_exit();
	kadapt_regions_exit();
}

module_init(kadapt_init);
module_exit(kadapt_exit);

MODULE_DESCRIPTION("A program tells the kernel which phase it is in");
MODULE_LICENSE("GPL");
