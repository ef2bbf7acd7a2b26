// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/kadapt, a device without hardware: uapi/kadapt.h describes it. This file
 * has the device node and the table of calls.
 */
#include <linux/bits.h>
#include <linux/fs.h>
#include <linux/minmax.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "batch.h"
#include "choice/choice.h"
#include "live/units.h"
#include "memory/ranges.h"
#include "phase/client.h"
#include "phase/quantum.h"
#include "phase/state.h"
#include "phase/task.h"
#include "ring/rings.h"
#include "uapi/kadapt.h"

static int kadapt_open(struct inode *inode, struct file *file)
{
	file->private_data = kadapt_client_create();
	return file->private_data ? 0 : -ENOMEM;
}

/* A descriptor is closed, perhaps not the last one. */
static int kadapt_flush(struct file *file, fl_owner_t id)
{
	struct kadapt_client *client = file->private_data;

	/* A forked child that closes its inherited descriptor ends nothing. */
	if (kadapt_client_owned(client)) {
		kadapt_rings_close(client);
		kadapt_tasks_undo(client);
	}
	return 0;
}

static int kadapt_release(struct inode *inode, struct file *file)
{
	struct kadapt_client *client = file->private_data;

	kadapt_rings_close(client);
	kadapt_tasks_close(client);
	kadapt_client_put(client);
	return 0;
}

/* The calls whose argument is a structure, which may grow in later versions. */
union argument {
	struct kadapt_query query;
	struct kadapt_policy policy;
	struct kadapt_counters counters;
	struct kadapt_new_ring ring;
	struct kadapt_binding binding;
	struct kadapt_batch batch;
	struct kadapt_memory memory;
	struct kadapt_take take;
};

static int call_query(struct kadapt_client *client, union argument *argument)
{
	argument->query = (struct kadapt_query){
		.version = KADAPT_VERSION,
		.phases = KADAPT_PHASES,
		.quantum_min_ns = kadapt_quantum_min_ns(),
		.quantum_max_ns = kadapt_quantum_max_ns(),
	};
	if (kadapt_quantum_supported())
		argument->query.features |= KADAPT_FEATURE_QUANTUM;
	kadapt_rings_query(&argument->query);
	kadapt_ranges_query(&argument->query);
	kadapt_units_query(&argument->query);
	return 0;
}

static int call_define(struct kadapt_client *client, union argument *argument)
{
	return kadapt_client_define(client, &argument->policy);
}

static int call_counters(struct kadapt_client *client, union argument *argument)
{
	return kadapt_task_counters(client, &argument->counters);
}

static int call_ring(struct kadapt_client *client, union argument *argument)
{
	return kadapt_rings_create(client, &argument->ring);
}

static int call_bind(struct kadapt_client *client, union argument *argument)
{
	return kadapt_rings_bind(client, &argument->binding);
}

static int call_batch(struct kadapt_client *client, union argument *argument)
{
	return kadapt_batch_write(&argument->batch);
}

static int call_memory(struct kadapt_client *client, union argument *argument)
{
	return kadapt_ranges_bind(&argument->memory);
}

static int call_take(struct kadapt_client *client, union argument *argument)
{
	const struct kadapt_take *take = &argument->take;
	int unit, error;

	if (take->reserved || take->phase >= KADAPT_PHASES ||
	    strnlen(take->unit, sizeof(take->unit)) == sizeof(take->unit))
		return -EINVAL;
	unit = kadapt_units_hold(take->unit);
	if (unit < 0)
		return unit;
	error = kadapt_client_take(client, take->phase, unit);
	if (error)
		kadapt_choice_release(BIT(unit));
	/* A phase may ask for a unit again. */
	return error == -EEXIST ? 0 : error;
}

struct call {
	unsigned int command;
	size_t size;		/* of the structure as this kernel knows it */
	size_t least;		/* version 1's size; shorter ones get EINVAL */
	int (*run)(struct kadapt_client *client, union argument *argument);
};

#define CALL(command, type, last, run) \
	{ command, sizeof(struct type), offsetofend(struct type, last), run }

static const struct call calls[] = {
	CALL(KADAPT_QUERY, kadapt_query, quantum_max_ns, call_query),
	CALL(KADAPT_DEFINE, kadapt_policy, quantum_ns, call_define),
	CALL(KADAPT_COUNTERS, kadapt_counters, involuntary_switches,
	     call_counters),
	CALL(KADAPT_RING, kadapt_new_ring, map_bytes, call_ring),
	CALL(KADAPT_BIND, kadapt_binding, reserved, call_bind),
	CALL(KADAPT_BATCH, kadapt_batch, reserved, call_batch),
	CALL(KADAPT_MEMORY, kadapt_memory, done, call_memory),
	CALL(KADAPT_TAKE, kadapt_take, unit, call_take),
};

/* A call's number without the size, so that its structure may grow. */
#define without_size(command) ((command) & ~IOCSIZE_MASK)

static const struct call *find_call(unsigned int command)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(calls); i++)
		if (without_size(command) == without_size(calls[i].command))
			return &calls[i];
	return NULL;
}

static int copy_in(union argument *to, const struct call *call,
		   unsigned int command, const void __user *from)
{
	if (!(_IOC_DIR(call->command) & _IOC_WRITE))
		return 0;
	if (_IOC_SIZE(command) < call->least)
		return -EINVAL;
	return copy_struct_from_user(to, call->size, from, _IOC_SIZE(command));
}

static int copy_out(void __user *to, const union argument *from,
		    const struct call *call, unsigned int command)
{
	size_t room = _IOC_SIZE(command);
	size_t known = min(room, call->size);

	if (!(_IOC_DIR(call->command) & _IOC_READ))
		return 0;
	if (room < call->least)
		return -EINVAL;
	if (copy_to_user(to, from, known) ||
	    clear_user(to + known, room - known))
		return -EFAULT;
	return 0;
}

static int call_with_structure(struct kadapt_client *client,
			       unsigned int command, void __user *user)
{
	const struct call *call = find_call(command);
	union argument argument = {};
	int error;

	if (!call)
		return -ENOTTY;
	error = copy_in(&argument, call, command, user) ?:
		call->run(client, &argument);
	return error ?: copy_out(user, &argument, call, command);
}

/* Drain the rings between two phases, so that each phase has its own writes. */
static int call_enter(struct kadapt_client *client, unsigned long phase)
{
	if (kadapt_client_has_rings(client) &&
	    !kadapt_task_is_in(client, phase))
		kadapt_rings_phase_changes(client);
	return kadapt_task_enter(client, phase);
}

static int call_leave(struct kadapt_client *client, unsigned long argument)
{
	if (argument)
		return -EINVAL;
	if (kadapt_client_has_rings(client))
		kadapt_rings_phase_changes(client);
	return kadapt_task_leave(client);
}

static long kadapt_ioctl(struct file *file, unsigned int command,
			 unsigned long argument)
{
	struct kadapt_client *client = file->private_data;

	if (_IOC_TYPE(command) != KADAPT_TYPE)
		return -ENOTTY;
	if (without_size(command) != without_size(KADAPT_QUERY) &&
	    !kadapt_client_owned(client))
		return -EPERM;
	switch (command) {
	case KADAPT_ENTER:
		return call_enter(client, argument);
	case KADAPT_LEAVE:
		return call_leave(client, argument);
	case KADAPT_DRAIN:
		return kadapt_rings_drain(client, argument);
	case KADAPT_UNBIND:
		return kadapt_rings_unbind(client, argument);
	default:
		return call_with_structure(client, command,
					   (void __user *)argument);
	}
}

static int kadapt_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct kadapt_client *client = file->private_data;

	if (!kadapt_client_owned(client))
		return -EPERM;
	return kadapt_rings_map(client, vma);
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

	kadapt_quanta_init();
	error = kadapt_clients_init();
	if (error)
		return error;
	error = kadapt_ranges_init();
	if (error)
		goto clients;
	error = kadapt_units_init();
	if (error)
		goto ranges;
	kadapt_tasks_init();
	error = misc_register(&kadapt_device);
	if (error)
		goto tasks;
	return 0;

tasks:
	kadapt_tasks_exit();
	kadapt_units_exit();
ranges:
	kadapt_ranges_exit();
clients:
	kadapt_clients_exit();
	kadapt_rings_exit();
	kadapt_quanta_exit();
	return error;
}

static void __exit kadapt_exit(void)
{
	misc_deregister(&kadapt_device);
	kadapt_tasks_exit();
	kadapt_units_exit();
	kadapt_ranges_exit();
	/* Waits for the last ring's work. */
	kadapt_clients_exit();
	kadapt_rings_exit();
	kadapt_quanta_exit();
}

module_init(kadapt_init);
module_exit(kadapt_exit);

MODULE_DESCRIPTION("A program tells the kernel which phase it is in");
MODULE_LICENSE("GPL");
