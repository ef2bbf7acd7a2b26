/* SPDX-License-Identifier: GPL-2.0-only */
/* Looks for calls in progress on the kernel stacks of tasks. */
#ifndef _KADAPT_STACK_H
#define _KADAPT_STACK_H

#include <linux/types.h>

struct module;
struct task_struct;

/* The code to look for: a module's, or a part of the kernel's own. */
struct kadapt_code {
	struct module *module;	/* NULL for the kernel's own */
	unsigned long begin;
	unsigned long end;
};

/* Whether the task runs, or is being switched to or from. */
bool kadapt_stack_in_use(const struct task_struct *task);
/*
 * Whether a word on the stack of the task, which does not run, is an address in
 * the code. Every return address is such a word, so no call in progress is
 * missed. A word that is left over from an earlier call may be one, too; then
 * the task seems to be inside until it runs again.
 */
bool kadapt_stack_has(struct task_struct *task, const struct kadapt_code *code);

#endif /* _KADAPT_STACK_H */
