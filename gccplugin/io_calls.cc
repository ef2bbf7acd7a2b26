// SPDX-License-Identifier: GPL-3.0-or-later
#include "io_calls.h"

namespace kadence
{
namespace
{

/* The 64-bit names are those of large files, the _chk ones those of -D_FORTIFY_SOURCE. */
const io_call calls[] = {
    {"write", "lipz"},
    {"pwrite", "lipzl"},
    {"pwrite64", "lipzl"},
    {"writev", "lipi"},
    {"send", "lipzi"},
    {"sendto", "lipzipu"},
    {"read", "lipz"},
    {"__read_chk", "lipzz"},
    {"fwrite", "zpzzp"},
    {"fwrite_unlocked", "zpzzp"},
    {"fputs", "ipp"},
    {"fputs_unlocked", "ipp"},
    {"puts", "ip"},
    {"fputc", "iip"},
    {"fputc_unlocked", "iip"},
    {"putc", "iip"},
    {"putc_unlocked", "iip"},
    {"putchar", "ii"},
    {"putchar_unlocked", "ii"},
    {"fflush", "ip"},
    {"fflush_unlocked", "ip"},
    {"printf", "ip."},
    {"vprintf", "ipp"},
    {"fprintf", "ipp."},
    {"vfprintf", "ippp"},
    {"__printf_chk", "iip."},
    {"__vprintf_chk", "iipp"},
    {"__fprintf_chk", "ipip."},
    {"__vfprintf_chk", "ipipp"},
};

const size_t call_count = sizeof(calls) / sizeof(calls[0]);

tree counterparts[call_count];

bool is_integer(const_tree type, unsigned bits, bool is_unsigned)
{
	return INTEGRAL_TYPE_P(type) && TYPE_PRECISION(type) == bits &&
	       TYPE_UNSIGNED(type) == is_unsigned;
}

/* A pointer, or a union of pointers that is passed as one, as <sys/socket.h> has for addresses. */
bool is_pointer(const_tree type)
{
	return POINTER_TYPE_P(type) ||
	       (TREE_CODE(type) == UNION_TYPE && TYPE_TRANSPARENT_AGGR(type));
}

bool is_of_kind(const_tree type, char kind)
{
	switch (kind) {
	case 'i':
		return is_integer(type, INT_TYPE_SIZE, false);
	case 'u':
		return is_integer(type, INT_TYPE_SIZE, true);
	case 'l':
		return is_integer(type, LONG_TYPE_SIZE, false);
	case 'z':
		return is_integer(type, LONG_TYPE_SIZE, true);
	default:
		return is_pointer(type);
	}
}

/*
 * No attribute is taken over but `leaf`, which the flow of the calling function was built after:
 * libkadapt calls nothing of the program's, so it is as true of the counterpart.
 */
tree declare_counterpart(const io_call &call, tree original)
{
	const std::string name = std::string("kadapt_") + call.name;
	tree decl = build_fn_decl(name.c_str(), TREE_TYPE(original));

	TREE_NOTHROW(decl) = TREE_NOTHROW(original);
	if (lookup_attribute("leaf", DECL_ATTRIBUTES(original)))
		DECL_ATTRIBUTES(decl) = tree_cons(get_identifier("leaf"), NULL_TREE, NULL_TREE);
	return decl;
}

} // namespace

const io_call *find_io_call(const std::string &name)
{
	for (const io_call &call : calls)
		if (name == call.name)
			return &call;
	return nullptr;
}

bool has_type_of(const io_call &call, const_tree function_type)
{
	const char *kind = call.type;
	const_tree argument = TYPE_ARG_TYPES(function_type);

	if (!argument || !is_of_kind(TREE_TYPE(function_type), *kind++))
		return false;
	for (; *kind && *kind != '.'; kind++, argument = TREE_CHAIN(argument))
		if (!argument || !is_of_kind(TREE_VALUE(argument), *kind))
			return false;
	/* A list of arguments that ends in void takes no more. */
	return *kind == '.' ? !argument : argument && VOID_TYPE_P(TREE_VALUE(argument));
}

void register_io_call_roots(const char *plugin_name)
{
	static const ggc_root_tab roots[] = {
	    {counterparts, call_count, sizeof(counterparts[0]), &gt_ggc_mx_tree_node,
	     &gt_pch_nx_tree_node},
	    LAST_GGC_ROOT_TAB,
	};

	register_callback(plugin_name, PLUGIN_REGISTER_GGC_ROOTS, NULL,
			  const_cast<ggc_root_tab *>(roots));
}

tree counterpart_of(const io_call &call, tree original)
{
	tree &kept = counterparts[&call - calls];

	if (!kept)
		kept = declare_counterpart(call, original);
	return kept;
}

} // namespace kadence
