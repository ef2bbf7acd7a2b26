// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A plugin of GCC that lets only some functions have a place for units.
 *
 *	-pg -mfentry -mnop-mcount -fplugin=places.so -fplugin-arg-places-functions=NAME:NAME
 *
 * These functions stay whole: they are not inlined, cloned or merged, and their callers assume
 * nothing of them. All other functions are compiled as without -pg.
 */
#include <gcc-plugin.h>
#include <plugin-version.h>
#include <tree.h>
#include <stringpool.h>
#include <attribs.h>

#include <set>
#include <string>

__attribute__((visibility("default"))) int plugin_is_GPL_compatible;

namespace
{

std::set<std::string> functions;

void read_functions(const std::string &names)
{
	size_t begin = 0, end;

	while ((end = names.find(':', begin)) != std::string::npos) {
		functions.insert(names.substr(begin, end - begin));
		begin = end + 1;
	}
	functions.insert(names.substr(begin));
}

/* Called for each function that was read, before GCC does anything with it. */
void on_function(void *function, void *)
{
	tree declaration = static_cast<tree>(function);

	if (functions.count(IDENTIFIER_POINTER(DECL_NAME(declaration))))
		decl_attributes(&declaration,
				tree_cons(get_identifier("noipa"), NULL_TREE, NULL_TREE), 0);
	else
		DECL_NO_INSTRUMENT_FUNCTION_ENTRY_EXIT(declaration) = 1;
}

} // namespace

__attribute__((visibility("default"))) int plugin_init(plugin_name_args *arguments,
						       plugin_gcc_version *version)
{
	if (!plugin_default_version_check(version, &gcc_version))
		return 1;
	for (int i = 0; i < arguments->argc; i++)
		if (std::string(arguments->argv[i].key) == "functions")
			read_functions(arguments->argv[i].value);
	register_callback(arguments->base_name, PLUGIN_PRE_GENERICIZE, on_function, nullptr);
	return 0;
}
