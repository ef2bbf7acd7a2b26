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
 * `kadence live build` makes a module of it. Functions that the kernel does not
 * export may be replaced and called. A variant runs instead of the function for
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

#include "live/unit.h"

/* The builder makes this the address behind the function's traced place. */
#define KADENCE_ORIGINAL(function) kadence_original_##function

/* Head of the variant of a function, whose parameters and result are these. */
#define KADENCE_REPLACES(function, result, ...)				\
	result kadence_original_##function(__VA_ARGS__);		\
	extern const char kadence_function_##function[];		\
	static result kadence_variant_##function(__VA_ARGS__);		\
	static const struct kadapt_replacement				\
	kadence_replacement_##function					\
	__used __section("kadence_replacements") = {			\
		.name = #function,					\
		.address = (unsigned long)kadence_function_##function,	\
		.original = (unsigned long)kadence_original_##function,	\
		.variant = (unsigned long)kadence_variant_##function,	\
	};								\
	static noinline result kadence_variant_##function(__VA_ARGS__)

/* Once, at the end of the file, whose name is the unit's. */
#define KADENCE_UNIT							\
	extern const struct kadapt_replacement				\
		__start_kadence_replacements[],				\
		__stop_kadence_replacements[];				\
	static const struct kadapt_unit kadence_unit = {		\
		.name = KBUILD_MODNAME,					\
		.module = THIS_MODULE,					\
		.replacements = __start_kadence_replacements,		\
		.end = __stop_kadence_replacements,			\
	};								\
	module_driver(kadence_unit, kadapt_unit_install,		\
		      kadapt_unit_unload);				\
	/* So that the kernel resolves functions that it does not export. */ \
	MODULE_INFO(livepatch, "Y");					\
	MODULE_LICENSE("GPL")

#endif /* _KADENCE_UNIT_H */
