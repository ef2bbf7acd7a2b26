// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/kadapt_probe: uapi/kadapt_probe.h describes it.
 *
 * When an armed file is closed, tasks may still be in timed calls, and will
 * return to a stub. Calls of tasks that sleep are abandoned; the others return
 * soon. Until then the session's memory and its hooks stay, and no other file
 * can be armed. This module stays until the last call has returned.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

#include "base/stubs.h"
#include "probe/session.h"
#include "probe/ticks.h"

#define DRAIN_PAUSE	(HZ / 10 + 1)

/* Protects all of the session but what hooks and stubs use. */
static DEFINE_MUTEX(session_lock);
static struct file *armed;
static bool draining;

static void drain(struct work_struct *work);
static DECLARE_DELAYED_WORK(drainage, drain);

/* ---- the begin ------------------------------------------------------------ */

static int check_function(const struct kadapt_probe_function *function)
{
	if (function->kind >= KADAPT_PROBE_KINDS || function->reserved)
		return -EINVAL;
	if (function->kind != KADAPT_PROBE_COUNT &&
	    function->kind != KADAPT_PROBE_POINT &&
	    kadapt_probe_ticks_unstable())
		return -EOPNOTSUPP;
	return 0;
}

static int compare(const void *one, const void *other)
{
	const u64 *left = one, *right = other;

	return *left < *right ? -1 : *left > *right;
}

static int check_no_function_twice(const struct kadapt_probe_function *functions,
				   unsigned int count)
{
	u64 *addresses = kvmalloc_array(count, sizeof(*addresses), GFP_KERNEL);
	unsigned int i;
	int error = 0;

	if (!addresses)
		return -ENOMEM;
	for (i = 0; i < count; i++)
		addresses[i] = functions[i].address;
	sort(addresses, count, sizeof(*addresses), compare, NULL);
	for (i = 1; i < count; i++)
		if (addresses[i] == addresses[i - 1])
			error = -EINVAL;
	kvfree(addresses);
	return error;
}

static bool is_size_of_events(u32 power)
{
	return !power || (power >= KADAPT_PROBE_EVENTS_LEAST &&
			  power <= KADAPT_PROBE_EVENTS_MOST);
}

static struct kadapt_probe_function *
copy_functions(const struct kadapt_probe_arm *arm)
{
	struct kadapt_probe_function *functions;
	unsigned int i;
	int error = 0;

	if (!arm->count || arm->count > KADAPT_PROBE_FUNCTIONS ||
	    !is_size_of_events(arm->events))
		return ERR_PTR(-EINVAL);
	functions = vmemdup_array_user((void __user *)arm->functions, arm->count,
				       sizeof(*functions));
	if (IS_ERR(functions))
		return functions;
	for (i = 0; i < arm->count && !error; i++)
		error = check_function(&functions[i]);
	if (!error)
		error = check_no_function_twice(functions, arm->count);
	if (!error)
		return functions;
	kvfree(functions);
	return ERR_PTR(error);
}

static void use_sinks(void)
{
	int processor;

	for_each_possible_cpu(processor)
		per_cpu(kadapt_probe_block, processor) =
			kadapt_probe_sink(processor);
}

static int begin_session(const struct kadapt_probe_function *functions,
			 const struct kadapt_probe_arm *arm)
{
	int error = kadapt_probe_pool_create(arm);

	if (error)
		return error;
	error = kadapt_probe_tasks_create();
	if (error)
		goto pool;
	use_sinks();
	error = kadapt_probe_hooks_register();
	if (error)
		goto tasks;
	error = kadapt_probe_places_call(functions, arm->count);
	if (error)
		goto hooks;
	error = kadapt_probe_points_hook(functions, arm->count);
	if (!error)
		return 0;
	kadapt_probe_places_restore();
hooks:
	kadapt_probe_hooks_unregister();
tasks:
	kadapt_probe_tasks_destroy();
pool:
	kadapt_probe_pool_destroy();
	return error;
}

static void report(struct kadapt_probe_arm *arm)
{
	bool shared = kadapt_probe_places_shared(arm->count);
	const u64 *costs = shared ? kadapt_probe_shared_costs :
				    kadapt_probe_costs;
	unsigned int i;

	arm->map_bytes = kadapt_probe_pool_bytes();
	arm->version = KADAPT_PROBE_VERSION;
	arm->ticks_khz = kadapt_probe_ticks_khz();
	arm->inner_ticks = kadapt_probe_inner;
	arm->shared = shared;
	for (i = 0; i < KADAPT_PROBE_KINDS; i++)
		arm->cost_ticks[i] = costs[kadapt_probe_places_kind(i)];
	arm->count_ticks = costs[KADAPT_PROBE_COUNT];
	arm->cost_ticks[KADAPT_PROBE_COUNT] = costs[KIND_CORRECTED];
}

static int arm_file(struct file *file, struct kadapt_probe_arm *arm,
		    const struct kadapt_probe_function *functions)
{
	int error;

	guard(mutex)(&session_lock);
	if (armed == file)
		return -EALREADY;
	if (armed || draining)
		return -EBUSY;
	error = begin_session(functions, arm);
	if (error)
		return error;
	armed = file;
	report(arm);
	return 0;
}

static int observe_task(struct file *file, unsigned long number)
{
	struct task_struct *task;
	int error;

	guard(mutex)(&session_lock);
	if (armed != file)
		return -ENOTCONN;
	if (number > PID_MAX_LIMIT)
		return -ESRCH;
	rcu_read_lock();
	task = pid_task(find_vpid(number), PIDTYPE_PID);
	/* A task that has ended is found until its parent has waited. */
	error = task ? kadapt_probe_task_add(task) : -ESRCH;
	rcu_read_unlock();
	return error;
}

/* ---- the end -------------------------------------------------------------- */

static void end_session(void)
{
	kadapt_probe_hooks_unregister();
	kadapt_wait_for_stubs();
	kadapt_probe_tasks_destroy();
	kadapt_probe_pool_destroy();
	draining = false;
	module_put(THIS_MODULE);
}

static void drain_now(void)
{
	if (kadapt_probe_abandon())
		end_session();
	else
		schedule_delayed_work(&drainage, DRAIN_PAUSE);
}

static void drain(struct work_struct *work)
{
	guard(mutex)(&session_lock);
	drain_now();
}

static void disarm(void)
{
	kadapt_probe_points_unhook();
	kadapt_probe_places_restore();
	armed = NULL;
	draining = true;
	__module_get(THIS_MODULE);
	drain_now();
}

static int probe_release(struct inode *inode, struct file *file)
{
	guard(mutex)(&session_lock);
	if (armed == file)
		disarm();
	return 0;
}

/* ---- the device ----------------------------------------------------------- */

/*
 * User-Mode Linux is a process of the user who started it. What that user can do
 * to it by this device, the user can do without, as by a debugger.
 */
static bool belongs_to_user(void)
{
	return IS_ENABLED(CONFIG_UML);
}

static int probe_open(struct inode *inode, struct file *file)
{
	return belongs_to_user() || capable(CAP_SYS_ADMIN) ? 0 : -EPERM;
}

static long call_arm(struct file *file, void __user *user)
{
	struct kadapt_probe_function *functions;
	struct kadapt_probe_arm arm;
	int error;

	if (copy_from_user(&arm, user, sizeof(arm)))
		return -EFAULT;
	/* A page fault takes the memory's lock, under which mmap() takes ours. */
	functions = copy_functions(&arm);
	if (IS_ERR(functions))
		return PTR_ERR(functions);
	error = arm_file(file, &arm, functions);
	kvfree(functions);
	if (error)
		return error;
	return copy_to_user(user, &arm, sizeof(arm)) ? -EFAULT : 0;
}

static long probe_ioctl(struct file *file, unsigned int command,
			unsigned long argument)
{
	switch (command) {
	case KADAPT_PROBE_ARM:
		return call_arm(file, (void __user *)argument);
	case KADAPT_PROBE_TASK:
		return observe_task(file, argument);
	default:
		return -ENOTTY;
	}
}

static int probe_mmap(struct file *file, struct vm_area_struct *vma)
{
	guard(mutex)(&session_lock);
	if (armed != file)
		return -ENOTCONN;
	if (vma->vm_flags & VM_WRITE)
		return -EPERM;
	vm_flags_clear(vma, VM_MAYWRITE);
	return remap_vmalloc_range(vma, kadapt_probe_pool(), vma->vm_pgoff);
}

static const struct file_operations probe_fops = {
	.owner = THIS_MODULE,
	.open = probe_open,
	.release = probe_release,
	.unlocked_ioctl = probe_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = probe_mmap,
};

static struct miscdevice probe_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "kadapt_probe",
	.mode = IS_ENABLED(CONFIG_UML) ? 0666 : 0600,
	.fops = &probe_fops,
};

static int __init probe_init(void)
{
	kadapt_probe_ticks_begin();
	return kadapt_probe_calibrate() ?: misc_register(&probe_device);
}

static void __exit probe_exit(void)
{
	misc_deregister(&probe_device);
	/* The work that ended the last session may not have returned. */
	cancel_delayed_work_sync(&drainage);
	kadapt_probe_abandoned_exit();
}

module_init(probe_init);
module_exit(probe_exit);

MODULE_DESCRIPTION("Counts and times functions of the kernel by task and phase");
MODULE_LICENSE("GPL");
