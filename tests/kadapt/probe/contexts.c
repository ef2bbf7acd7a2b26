// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions that are called in every context: what a program writes to /proc/contexts says which.
 *
 *	recurse		contexts_recurse() calls itself until it is DEPTH calls deep
 *	interrupt	contexts_in_interrupt(), by a timer, while contexts_outer() runs
 *	exception	contexts_in_exception(), by an int3, as a non-maskable interrupt would
 *	stay		contexts_stay() waits until "go" is written
 *	wide		contexts_wide() has more arguments than registers
 *
 * The functions do nothing else.
 */
#include <linux/completion.h>
#include <linux/hrtimer.h>
#include <linux/kdebug.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#define DEPTH 40
#define SPIN_NS 1000000

static unsigned long interrupts, exceptions;
static DECLARE_COMPLETION(may_go);

noinline unsigned long contexts_recurse(unsigned long depth);
noinline void contexts_in_interrupt(void);
noinline void contexts_in_exception(void);
noinline void contexts_outer(bool by_timer);
noinline void contexts_stay(void);
noinline long contexts_wide(long a, long b, long c, long d, long e, long f, long g, long h);

unsigned long contexts_recurse(unsigned long depth)
{
	unsigned long below = depth ? contexts_recurse(depth - 1) : 0;

	barrier();
	return below + 1;
}

void contexts_in_interrupt(void)
{
	WRITE_ONCE(interrupts, interrupts + 1);
}

void contexts_in_exception(void)
{
	WRITE_ONCE(exceptions, exceptions + 1);
}

static enum hrtimer_restart on_timer(struct hrtimer *timer)
{
	contexts_in_interrupt();
	return HRTIMER_NORESTART;
}

static int on_exception(struct notifier_block *block, unsigned long what, void *data)
{
	struct die_args *arguments = data;

	if (what != DIE_INT3 || user_mode(arguments->regs))
		return NOTIFY_DONE;
	contexts_in_exception();
	return NOTIFY_STOP;
}

static struct notifier_block exception_notifier = {.notifier_call = on_exception};

void contexts_outer(bool by_timer)
{
	struct hrtimer timer;
	u64 end = ktime_get_ns() + SPIN_NS;

	if (!by_timer) {
		asm volatile("int3");
		return;
	}
	hrtimer_init_on_stack(&timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	timer.function = on_timer;
	hrtimer_start(&timer, ns_to_ktime(SPIN_NS / 4), HRTIMER_MODE_REL_HARD);
	while (ktime_get_ns() < end)
		cpu_relax();
	hrtimer_cancel(&timer);
	destroy_hrtimer_on_stack(&timer);
}

void contexts_stay(void)
{
	wait_for_completion(&may_go);
}

long contexts_wide(long a, long b, long c, long d, long e, long f, long g, long h)
{
	barrier();
	return a + b + c + d + e + f + 10 * g + 100 * h;
}

static int call(const char *what)
{
	if (sysfs_streq(what, "recurse"))
		return contexts_recurse(DEPTH - 1) == DEPTH ? 0 : -EIO;
	if (sysfs_streq(what, "interrupt"))
		contexts_outer(true);
	else if (sysfs_streq(what, "exception"))
		contexts_outer(false);
	else if (sysfs_streq(what, "stay"))
		contexts_stay();
	else if (sysfs_streq(what, "go"))
		complete(&may_go);
	else if (sysfs_streq(what, "wide"))
		return contexts_wide(1, 1, 1, 1, 1, 1, 2, 3) == 326 ? 0 : -EIO;
	else
		return -EINVAL;
	return 0;
}

static ssize_t contexts_write(struct file *file, const char __user *user, size_t size, loff_t *at)
{
	char what[16] = {};
	int error;

	if (size >= sizeof(what) || copy_from_user(what, user, size))
		return -EINVAL;
	error = call(what);
	return error ?: size;
}

static const struct proc_ops contexts_ops = {.proc_write = contexts_write};

static int __init contexts_init(void)
{
	if (!proc_create("contexts", 0200, NULL, &contexts_ops))
		return -ENOMEM;
	return register_die_notifier(&exception_notifier);
}

static void __exit contexts_exit(void)
{
	unregister_die_notifier(&exception_notifier);
	remove_proc_entry("contexts", NULL);
}

module_init(contexts_init);
module_exit(contexts_exit);
MODULE_DESCRIPTION("Functions that are called in every context");
MODULE_LICENSE("GPL");
