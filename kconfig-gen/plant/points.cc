// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A plugin of GCC that says how each function of a kernel is called, for probes.
 *
 * For each function in the assembly it adds a line "KIND NAME" to a section that is not loaded.
 * KIND is one of enum kadapt_probe_kind in uapi/kadapt_probe.h: a function can be timed only if all
 * its arguments and its result are in registers, and the result may be a number of bytes.
 * kadapt/live/registers.py has the same rules for kernels with type information.
 */
#include <gcc-plugin.h>
#include <plugin-version.h>
#include <tree.h>
#include <output.h>
#include <stringpool.h>
#include <attribs.h>
#include <stdarg.h>

#include <cstring>

__attribute__((visibility("default"))) int plugin_is_GPL_compatible;

namespace
{

enum kind { COUNT, TIME, BYTES_LONG, BYTES_INT };

/* System V ABI for AMD64, section 3.2.3; the kernel has no floating-point values. */
const HOST_WIDE_INT REGISTER_BYTES = 8, MOST_IN_REGISTERS = 16, MOST_REGISTERS = 6;

HOST_WIDE_INT bytes_of(const_tree type)
{
	return VOID_TYPE_P(type) ? 0 : int_size_in_bytes(type);
}

bool is_simple(tree function_type)
{
	const HOST_WIDE_INT result = bytes_of(TREE_TYPE(function_type));
	HOST_WIDE_INT registers = result > MOST_IN_REGISTERS;
	function_args_iterator each;
	tree type;

	if (stdarg_p(function_type) || (result > REGISTER_BYTES && result <= MOST_IN_REGISTERS))
		return false;
	FOREACH_FUNCTION_ARGS(function_type, type, each)
	{
		const HOST_WIDE_INT bytes = bytes_of(type);

		if (bytes < 0 || bytes > MOST_IN_REGISTERS)
			return false;
		registers += (bytes + REGISTER_BYTES - 1) / REGISTER_BYTES;
	}
	return registers <= MOST_REGISTERS;
}

bool has_name(tree type, const char *wanted)
{
	tree name = TYPE_NAME(type);

	if (name && TREE_CODE(name) == TYPE_DECL)
		name = DECL_NAME(name);
	return name && !strcmp(IDENTIFIER_POINTER(name), wanted);
}

/* Whether the type has the name, or stands for or points to one that has. */
bool is_named(tree type, const char *name)
{
	for (; type; type = POINTER_TYPE_P(type) ? TREE_TYPE(type) : NULL_TREE) {
		tree each = type;

		while (each) {
			const tree declared = TYPE_NAME(each);

			if (has_name(each, name))
				return true;
			each = declared && TREE_CODE(declared) == TYPE_DECL
				   ? DECL_ORIGINAL_TYPE(declared)
				   : NULL_TREE;
		}
		if (has_name(TYPE_MAIN_VARIANT(type), name))
			return true;
	}
	return false;
}

bool moves_bytes(tree function_type)
{
	function_args_iterator each;
	tree type;

	FOREACH_FUNCTION_ARGS(function_type, type, each)
	if (is_named(type, "msghdr") || is_named(type, "iov_iter"))
		return true;
	return false;
}

enum kind kind_of(tree function)
{
	tree type = TREE_TYPE(function), result = TREE_TYPE(type);
	const bool is_number = is_named(result, "int") || is_named(result, "long int");

	if (!is_simple(type))
		return COUNT;
	if (is_named(result, "ssize_t") || (is_number && moves_bytes(type)))
		return bytes_of(result) == REGISTER_BYTES ? BYTES_LONG : BYTES_INT;
	return TIME;
}

/* GCC has written the function, and goes on in the section in which the function is. */
void on_function(void *, void *)
{
	const char *name = IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(current_function_decl));

	/* A name with a dot is a part or a special case, whose parameters may be others. */
	const enum kind kind = strchr(name, '.') ? COUNT : kind_of(current_function_decl);

	fprintf(asm_out_file,
		"\t.pushsection .comment.kadapt_points,\"\",@progbits\n"
		"\t.ascii \"%d %s\\n\"\n\t.popsection\n",
		kind, name);
}

} // namespace

__attribute__((visibility("default"))) int plugin_init(plugin_name_args *arguments,
						       plugin_gcc_version *version)
{
	if (!plugin_default_version_check(version, &gcc_version))
		return 1;
	register_callback(arguments->base_name, PLUGIN_ALL_PASSES_END, on_function, nullptr);
	return 0;
}
