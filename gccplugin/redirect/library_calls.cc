// SPDX-License-Identifier: GPL-3.0-or-later
#include "redirect/library_calls.h"

namespace kadence
{
namespace
{

#define IO_CALL(name, family, type) {site_kind::io, name, type},
#define BATCHED_CALL(name, type)
#define MEMORY_CALL(name, family, type, request) {site_kind::memory, name, type},
#define SEEN_CALL(name)

const library_call calls[] = {
#include "calls.def"
};

#undef IO_CALL
#undef BATCHED_CALL
#undef MEMORY_CALL

const size_t call_count = sizeof(calls) / sizeof(calls[0]);

tree counterparts[call_count];

bool is_integer(const_tree type, unsigned bits, bool is_unsigned)
{
	return INTEGRAL_TYPE_P(type) && TYPE_PRECISION(type) == bits &&
	       TYPE_UNSIGNED(type) == is_unsigned;
}

bool is_of_kind(const_tree type, char kind)
{
	switch (kind) {
	case 'i':
		return is_integer(type, INT_TYPE_SIZE, false);
	case 'l':
		return is_integer(type, LONG_TYPE_SIZE, false);
	case 'z':
		return is_integer(type, LONG_TYPE_SIZE, true);
	default:
		return POINTER_TYPE_P(type);
	}
}

/* The type of the call with one more argument. The attributes of the other arguments stay. */
tree with_treatments(tree type)
{
	tree arguments = NULL_TREE;

	for (tree argument = TYPE_ARG_TYPES(type); !VOID_TYPE_P(TREE_VALUE(argument));
	     argument = TREE_CHAIN(argument))
		arguments = tree_cons(NULL_TREE, TREE_VALUE(argument), arguments);
	arguments = tree_cons(NULL_TREE, unsigned_type_node, arguments);
	arguments = chainon(nreverse(arguments), void_list_node);
	return build_type_attribute_variant(build_function_type(TREE_TYPE(type), arguments),
					    TYPE_ATTRIBUTES(type));
}

tree counterpart_type(const library_call &call, tree original)
{
	const tree type = TREE_TYPE(original);

	return call.kind == site_kind::memory ? with_treatments(type) : type;
}

/*
 * Two attributes of the declaration hold for the counterpart, too. The result points to memory to
 * which nothing else points. And `leaf`: libkadapt calls no function of the program. The flow graph
 * of the calling function depends on `leaf`.
 */
tree declare_counterpart(const library_call &call, tree original)
{
	const std::string name = std::string("kadapt_") + call.name;
	tree decl = build_fn_decl(name.c_str(), counterpart_type(call, original));

	TREE_NOTHROW(decl) = TREE_NOTHROW(original);
	DECL_IS_MALLOC(decl) = DECL_IS_MALLOC(original);
	if (lookup_attribute("leaf", DECL_ATTRIBUTES(original)))
		DECL_ATTRIBUTES(decl) = tree_cons(get_identifier("leaf"), NULL_TREE, NULL_TREE);
	return decl;
}

} // namespace

#define IO_CALL(name, family, type)
#define BATCHED_CALL(name, type) const library_call batched_send = {site_kind::io, name, type};
#define MEMORY_CALL(name, family, type, request)
#include "calls.def"

const library_call *find_library_call(const std::string &name)
{
	for (const library_call &call : calls)
		if (name == call.name)
			return &call;
	return nullptr;
}

bool has_type_of(const library_call &call, const_tree function_type)
{
	const char *kind = call.type;
	const_tree argument = TYPE_ARG_TYPES(function_type);

	if (!argument || !is_of_kind(TREE_TYPE(function_type), *kind++))
		return false;
	for (; *kind; kind++, argument = TREE_CHAIN(argument))
		if (!argument || !is_of_kind(TREE_VALUE(argument), *kind))
			return false;
	/* If the list of arguments ends in void, the function takes no more arguments. */
	return argument && VOID_TYPE_P(TREE_VALUE(argument));
}

void register_library_call_roots(const char *plugin_name)
{
	static const ggc_root_tab roots[] = {
	    {counterparts, call_count, sizeof(counterparts[0]), &gt_ggc_mx_tree_node,
	     &gt_pch_nx_tree_node},
	    LAST_GGC_ROOT_TAB,
	};

	register_callback(plugin_name, PLUGIN_REGISTER_GGC_ROOTS, NULL,
			  const_cast<ggc_root_tab *>(roots));
}

tree counterpart_of(const library_call &call, tree original)
{
	tree &kept = counterparts[&call - calls];

	if (!kept)
		kept = declare_counterpart(call, original);
	return kept;
}

} // namespace kadence
