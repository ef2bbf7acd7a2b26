/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For the author of a unit: new versions of functions of the running kernel.
 *
 *	#include <kadence/unit.h>
 *
 *	KADENCE_REPLACES(vfs_write, ssize_t, struct file *file,
 *			 const char __user *buffer, size_t count, loff_t *position)
 *	{
 *		// before
 *		ssize_t written = KADENCE_ORIGINAL(vfs_write)(file, buffer, count,
 *							      position);
 *		// after
 *		return written;
 *	}
 *
 *	KADENCE_UNIT;
 *
 * `kadence live build` makes a module of it, `kadence kernel build --unit` a
 * kernel that contains it. Functions that the kernel does not export may be
 * replaced and called. A variant runs instead of the function for
 * tasks that take the unit, and for interrupts of such tasks; it may sleep if
 * the function may. The functions of a unit go in and out together.
 */
#ifndef _KADENCE_UNIT_H
#define _KADENCE_UNIT_H

#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/device/driver.h>
#include <linux/init.h>
#include <linux/module.h>

#include "live/shadow.h"
#include "live/unit.h"

/* What the unit keeps for the kernel's objects: see kadence/shadow.h. */
static DEFINE_XARRAY(kadence_shadows);

/*
 * GCC keeps the order of this file (-fno-toplevel-reorder). So the unit's code
 * and its replacements lie between these marks and those of KADENCE_UNIT.
 */
static const struct kadapt_replacement kadence_begin[0]
__used __section(".rodata.kadence")
__aligned(__alignof__(struct kadapt_replacement)) = {};
asm(".pushsection .text\nkadence_code_begin:\n.popsection");

/* The builder makes this the address behind the function's traced place. */
#define KADENCE_ORIGINAL(function) kadence_original_##function

#define KADENCE_REPLACEMENT(function)					\
	static const struct kadapt_replacement				\
	kadence_replacement_##function					\
	__used __section(".rodata.kadence")				\
	__aligned(__alignof__(struct kadapt_replacement)) = {		\
		.name = #function,					\
		.address = (unsigned long)kadence_function_##function,	\
		.original = (unsigned long)kadence_original_##function,	\
		.variant = (unsigned long)kadence_variant_##function,	\
	}

/* Head of the variant of a function, whose parameters and result are these. */
#define KADENCE_REPLACES(function, result, ...)				\
	result kadence_original_##function(__VA_ARGS__);		\
	extern const char kadence_function_##function[];		\
	static result kadence_variant_##function(__VA_ARGS__);		\
	KADENCE_REPLACEMENT(function);					\
	static noinline result kadence_variant_##function(__VA_ARGS__)

/*
 * Head of a function without result that runs before another one, with its
 * parameters, of which at most six count. The other function then runs as if
 * its caller had called it: it returns there, and the unit is not on the stack.
 * So this suits functions that sleep for ever, such as schedule(). It must not
 * sleep itself if the other one is called with the task's state changed.
 */
#define KADENCE_BEFORE(function, ...)					\
	extern const char kadence_original_##function[];		\
	extern const char kadence_function_##function[];		\
	extern const char kadence_variant_##function[];			\
	static void kadence_before_##function(__VA_ARGS__);		\
	asm(".pushsection .text\n"					\
	    ".type kadence_variant_" #function ", @function\n"		\
	    "kadence_variant_" #function ":\n"				\
	    "push %rdi; push %rsi; push %rdx\n"				\
	    "push %rcx; push %r8; push %r9\n"				\
	    "sub $8, %rsp\n"						\
	    "call kadence_before_" #function "\n"			\
	    "add $8, %rsp\n"						\
	    "pop %r9; pop %r8; pop %rcx\n"				\
	    "pop %rdx; pop %rsi; pop %rdi\n"				\
	    "jmp kadence_original_" #function "\n"			\
	    ".size kadence_variant_" #function				\
	    ", . - kadence_variant_" #function "\n"			\
	    ".popsection");						\
	KADENCE_REPLACEMENT(function);					\
	static noinline __used void					\
	kadence_before_##function(__VA_ARGS__)

/*
 * Once, at the end of the file, whose name is the unit's: KADENCE_UNIT for
 * threads that take the unit in their phases, or KADENCE_UNIT_FOR_EVERYBODY.
 */
#define KADENCE_UNIT							\
	static const struct kadapt_replacement kadence_end[0]		\
	__used __section(".rodata.kadence")				\
	__aligned(__alignof__(struct kadapt_replacement)) = {};		\
	asm(".pushsection .text\nkadence_code_end:\n.popsection");	\
	extern const char kadence_code_begin[], kadence_code_end[];	\
	static const struct kadapt_unit kadence_unit = {		\
		.name = KBUILD_MODNAME,					\
		.code = {						\
			.module = THIS_MODULE,				\
			.begin = (unsigned long)kadence_code_begin,	\
			.end = (unsigned long)kadence_code_end,		\
		},							\
		.replacements = kadence_begin,				\
		.end = kadence_end,					\
		.shadows = &kadence_shadows,				\
	};								\
	module_driver(kadence_unit, kadapt_unit_install,		\
		      kadapt_unit_unload);				\
	/* So that the kernel resolves functions that it does not export. */ \
	MODULE_INFO(livepatch, "Y");					\
	MODULE_LICENSE("GPL")

#if defined(MODULE) && defined(CONFIG_LIVEPATCH)

#include <linux/livepatch.h>
#include <linux/slab.h>

/* A live patch, and the replacements that it is made of. */
struct kadence_patch {
	struct klp_patch patch;
	struct klp_object objects[2];
	const struct kadapt_replacement *begin;
	const struct kadapt_replacement *end;
};

static inline void kadence_patch_free(struct kadence_patch *all)
{
	kadapt_shadows_free(&kadence_shadows);
	kfree(all->objects[0].funcs);
}

/* Returns 0 or a negative error. */
static inline int kadence_patch_enable(struct kadence_patch *all)
{
	const struct kadapt_replacement *each = all->begin;
	struct klp_func *functions;
	int error;

	/* To GCC, `begin` is an array without elements. */
	OPTIMIZER_HIDE_VAR(each);
	functions = kcalloc(all->end - each + 1, sizeof(*functions), GFP_KERNEL);
	if (!functions)
		return -ENOMEM;
	all->objects[0].funcs = functions;
	for (; each < all->end; each++, functions++) {
		functions->old_name = each->name;
		functions->new_func = (void *)each->variant;
	}
	all->patch.objs = all->objects;
	error = klp_enable_patch(&all->patch);
	if (error)
		kadence_patch_free(all);
	return error;
}

/*
 * The kernel's own live patching, because everybody includes kernel threads. It
 * changes each task at a place where none of the functions is on its stack.
 */
#define KADENCE_UNIT_FOR_EVERYBODY					\
	static const struct kadapt_replacement kadence_end[0]		\
	__used __section(".rodata.kadence")				\
	__aligned(__alignof__(struct kadapt_replacement)) = {};		\
	static struct kadence_patch kadence_patch = {			\
		.patch.mod = THIS_MODULE,				\
		.begin = kadence_begin,					\
		.end = kadence_end,					\
	};								\
	module_driver(kadence_patch, kadence_patch_enable,		\
		      kadence_patch_free);				\
	MODULE_INFO(livepatch, "Y");					\
	MODULE_LICENSE("GPL")

#elif defined(MODULE)
#define KADENCE_UNIT_FOR_EVERYBODY					\
	static_assert(0, "this kernel has no live patching")
#else
#define KADENCE_UNIT_FOR_EVERYBODY					\
	static_assert(0, "if everybody takes it, change the kernel's source")
#endif

#endif /* _KADENCE_UNIT_H */
