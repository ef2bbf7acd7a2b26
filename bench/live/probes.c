// SPDX-License-Identifier: GPL-2.0-only
/* Probes of write(2) that do nothing, to compare: probes.ko kind=kprobe, kretprobe or fprobe. */
#include <linux/errno.h>
#include <linux/fprobe.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/string.h>

#define FUNCTION "__x64_sys_write"

static char *kind = "kprobe";
module_param(kind, charp, 0444);

static int before(struct kprobe *probe, struct pt_regs *registers)
{
	return 0;
}

static int after(struct kretprobe_instance *instance, struct pt_regs *registers)
{
	return 0;
}

static int entry(struct fprobe *probe, unsigned long function, unsigned long caller,
		 struct pt_regs *registers, void *data)
{
	return 0;
}

static struct kprobe kprobe = {.symbol_name = FUNCTION, .pre_handler = before};
static struct kretprobe kretprobe = {.kp.symbol_name = FUNCTION, .handler = after};
static struct fprobe fprobe = {.entry_handler = entry};

static int __init probes_init(void)
{
	if (!strcmp(kind, "kprobe"))
		return register_kprobe(&kprobe);
	if (!strcmp(kind, "kretprobe"))
		return register_kretprobe(&kretprobe);
	if (!strcmp(kind, "fprobe"))
		return register_fprobe(&fprobe, FUNCTION, NULL);
	return -EINVAL;
}

static void __exit probes_exit(void)
{
	if (!strcmp(kind, "kprobe"))
		unregister_kprobe(&kprobe);
	else if (!strcmp(kind, "kretprobe"))
		unregister_kretprobe(&kretprobe);
	else
		unregister_fprobe(&fprobe);
}

module_init(probes_init);
module_exit(probes_exit);
MODULE_DESCRIPTION("Probes that do nothing");
MODULE_LICENSE("GPL");
