// SPDX-License-Identifier: GPL-2.0-only
/* Sends callers of hot functions to their copies while the module is loaded. */
#include <linux/ftrace.h>
#include <linux/init.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <asm/cpufeature.h>

#include "code.h"

static struct ftrace_ops *operations; /* one for each entry */

/* `kadence live list` knows the module by it. */
static unsigned int kadence_entered;
module_param(kadence_entered, uint, 0444);
MODULE_PARM_DESC(kadence_entered, "functions whose callers are sent to copies; not to be set");

static size_t entry_count(void)
{
	return kadence_entries_end - kadence_entries;
}

static bool is_same_kernel(void)
{
	size_t size = kadence_notes_end - kadence_notes;

	return __stop_notes - __start_notes == size &&
	       !memcmp(__start_notes, kadence_notes, size);
}

/*
 * A kernel that counts calls (retbleed=stuff) does so in front of each function.
 * Copies have nothing there.
 */
static bool are_calls_counted(void)
{
	return boot_cpu_has(X86_FEATURE_CALL_DEPTH);
}

/* Whether a module changes functions; the copies would go on with their originals. */
static bool changes_functions(struct module *module)
{
	return module != THIS_MODULE && is_livepatch_module(module);
}

static int refuse_changes(struct notifier_block *block, unsigned long state, void *module)
{
	if (state != MODULE_STATE_COMING || !changes_functions(module))
		return NOTIFY_DONE;
	pr_err("%s: %s changes functions whose copies run; remove %s first\n",
	       KBUILD_MODNAME, ((struct module *)module)->name, KBUILD_MODNAME);
	return notifier_from_errno(-EBUSY);
}

static struct notifier_block watch = { .notifier_call = refuse_changes };

static bool are_functions_changed(void)
{
	struct module *module;
	bool found = false;

	rcu_read_lock();
	list_for_each_entry_rcu(module, &modules, list) {
		bool is_in = module->state == MODULE_STATE_COMING ||
			     module->state == MODULE_STATE_LIVE;

		if (is_in && changes_functions(module)) {
			pr_err("%s: %s changes functions; remove it first\n", KBUILD_MODNAME,
			       module->name);
			found = true;
		}
	}
	rcu_read_unlock();
	return found;
}

static int enter(const struct kadence_entry *entry, struct ftrace_ops *one)
{
	int error = ftrace_set_filter_ip(one, entry->place, 0, 0);

	if (!error)
		error = register_ftrace_direct(one, entry->stub);
	if (error)
		ftrace_free_filter(one);
	return error;
}

/* A place that another tool has taken, such as a program of BPF, keeps its original. */
static int enter_all(void)
{
	size_t i;
	int error;

	for (i = 0; i < entry_count(); i++) {
		error = enter(&kadence_entries[i], &operations[i]);
		if (!error)
			kadence_entered++;
		else if (error != -EBUSY)
			return error;
	}
	return 0;
}

static void leave_all_entries(void)
{
	size_t i;

	for (i = 0; i < entry_count(); i++)
		if (operations[i].flags & FTRACE_OPS_FL_ENABLED)
			unregister_ftrace_direct(&operations[i], kadence_entries[i].stub, true);
	kadence_leave();
}

/*
 * Too late to protect another build: the loader has read the tables by then. So
 * `kadence live install` compares the notes, too.
 */
static int require_kernel(void)
{
	if (!is_same_kernel()) {
		pr_err("%s is for another build of this kernel; make it anew\n", KBUILD_MODNAME);
		return -EINVAL;
	}
	if (are_calls_counted()) {
		pr_err("%s: the kernel counts calls (retbleed=stuff), which copies do not\n",
		       KBUILD_MODNAME);
		return -EOPNOTSUPP;
	}
	return 0;
}

/* A module that changes functions and comes later is refused; one that is there is seen. */
static int watch_and_enter(void)
{
	int error = register_module_notifier(&watch);

	if (error)
		return error;
	error = are_functions_changed() ? -EBUSY : enter_all();
	if (error) {
		leave_all_entries();
		unregister_module_notifier(&watch);
	}
	return error;
}

static int __init positioned_init(void)
{
	int error = require_kernel();

	if (error)
		return error;
	kadence_entered = 0;
	operations = kvcalloc(entry_count(), sizeof(*operations), GFP_KERNEL);
	if (!operations)
		return -ENOMEM;
	error = watch_and_enter();
	if (error)
		kvfree(operations);
	else
		pr_info("%s: %u functions run as copies\n", KBUILD_MODNAME, kadence_entered);
	return error;
}

static void __exit positioned_exit(void)
{
	leave_all_entries();
	unregister_module_notifier(&watch);
	kvfree(operations);
}

module_init(positioned_init);
module_exit(positioned_exit);
MODULE_LICENSE("GPL");
/* So the kernel resolves symbols that are not exported. */
MODULE_INFO(livepatch, "Y");
MODULE_DESCRIPTION("Copies of the kernel's hot code, next to each other");
