// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * The read-only object `kadapt_plan` (struct kadapt_plan of kadapt/lib/libkadapt.h). Every unit
 * with a marker or a redirected call defines it in a COMDAT group, so that a program has one. If
 * units were compiled with different plans, the first one that is linked wins.
 */
#include "base/gcc_compat.h"
#include "plan/plan_object.h"

#include <set>
#include <string>

namespace kadence
{
namespace
{

const char object_name[] = "kadapt_plan";
const char names_name[] = "kadapt_phase_names";
const unsigned abi_version = 5;

/* As KADAPT_PLAN_* of libkadapt.h. */
enum { flag_io = 0x1, flag_streams = 0x2, flag_memory = 0x8, flag_trials = 0x10 };

/* As KADAPT_POLICY_MEMORY_PLAIN of kadapt.h. */
enum { policy_memory_plain = 0x1 };

bool defined;

class word_list
{
      public:
	void append(uint32_t value)
	{
		CONSTRUCTOR_APPEND_ELT(elements, size_int(count++),
				       build_int_cstu(uint32_type_node, value));
	}

	void append_wide(uint64_t value)
	{
		const uint32_t low = (uint32_t)value;
		const uint32_t high = (uint32_t)(value >> 32);

		append(WORDS_BIG_ENDIAN ? high : low);
		append(WORDS_BIG_ENDIAN ? low : high);
	}

	tree build() const
	{
		tree type = build_array_type_nelts(
		    build_qualified_type(uint32_type_node, TYPE_QUAL_CONST), count);
		tree words = build_constructor(type, elements);

		TREE_CONSTANT(words) = 1;
		TREE_STATIC(words) = 1;
		return words;
	}

      private:
	vec<constructor_elt, va_gc> *elements = NULL;
	unsigned count = 0;
};

uint32_t flags_of(const plan &what)
{
	uint32_t flags = what.memory.planned ? flag_memory : 0;

	if (what.io.planned)
		flags |= flag_io | (what.io.streams ? flag_streams : 0);
	if (what.trials.planned)
		flags |= flag_trials;
	return flags;
}

void append_learned(word_list &words, const learned_effect &item)
{
	words.append(item.phase);
	words.append(item.policy);
	words.append(item.level);
	words.append((uint32_t)item.effect_ppm);
	words.append(item.error_ppm);
	words.append(0);
	words.append_wide(item.machine);
}

/* The structure has no padding, so it can be written as 32-bit words. */
tree contents(const plan &what)
{
	word_list words;

	words.append(abi_version);
	words.append((uint32_t)what.policies.size());
	words.append(flags_of(what));
	words.append(what.memory.planned ? what.memory.ahead : 0);
	words.append_wide(what.memory.keep_bytes);
	words.append_wide(what.memory.fresh_least_bytes);
	words.append_wide(what.trials.id);
	words.append((uint32_t)what.trials.learned.size());
	words.append(0);
	for (const policy &item : what.policies) {
		words.append(item.phase);
		words.append(item.memory_plain ? policy_memory_plain : 0);
		words.append_wide(item.quantum_ns);
		words.append_wide(item.file_delay_ns);
		words.append(item.tried);
		words.append(item.visits);
	}
	for (const learned_effect &item : what.trials.learned)
		append_learned(words, item);
	return words.build();
}

/* A variable that the source does not have, with its contents. */
tree declare_artificial(const char *name, tree type, tree contents)
{
	tree decl = build_decl(BUILTINS_LOCATION, VAR_DECL, get_identifier(name), type);

	DECL_INITIAL(decl) = contents;
	TREE_STATIC(decl) = 1;
	TREE_READONLY(decl) = 1;
	TREE_USED(decl) = 1;
	DECL_ARTIFICIAL(decl) = 1;
	DECL_IGNORED_P(decl) = 1;
	DECL_PRESERVE_P(decl) = 1; /* the unit has no reference to it */
	return decl;
}

/* A variable that is defined elsewhere; only its address is used. */
tree declare_anchor(const char *name)
{
	tree type = build_qualified_type(integer_type_node, TYPE_QUAL_CONST);
	tree decl = build_decl(BUILTINS_LOCATION, VAR_DECL, get_identifier(name), type);

	TREE_PUBLIC(decl) = 1;
	DECL_EXTERNAL(decl) = 1;
	DECL_ARTIFICIAL(decl) = 1;
	TREE_ADDRESSABLE(decl) = 1;
	return decl;
}

/* The names of the phases, in the order of the policies, each with its final NUL. */
tree names(const plan &what)
{
	std::string all;

	for (const policy &item : what.policies)
		all += item.name + '\0';
	tree text = build_string(all.size(), all.data());
	tree element = build_qualified_type(char_type_node, TYPE_QUAL_CONST);

	TREE_TYPE(text) = build_array_type(element, build_index_type(size_int(all.size())));
	return text;
}

bool has_quantum(const plan &what)
{
	for (const policy &item : what.policies)
		if (item.quantum_ns)
			return true;
	return false;
}

/* It is visible, so that a program with adapted shared libraries has one copy, too. */
void share_between_units(tree decl)
{
	TREE_PUBLIC(decl) = 1;
	DECL_VISIBILITY(decl) = VISIBILITY_DEFAULT;
	DECL_VISIBILITY_SPECIFIED(decl) = 1;
	DECL_COMDAT(decl) = 1;
	make_decl_one_only(decl, DECL_ASSEMBLER_NAME(decl));
}

void define_names(const plan &what)
{
	tree text = names(what);
	tree decl = declare_artificial(names_name, TREE_TYPE(text), text);

	SET_DECL_ASSEMBLER_NAME(decl, get_identifier(names_name));
	share_between_units(decl);
	varpool_node::finalize_decl(decl);
}

} // namespace

void define_plan_object(const plan &what)
{
	if (defined)
		return;
	defined = true;
	tree words = contents(what);
	tree decl = declare_artificial(object_name, TREE_TYPE(words), words);

	SET_DECL_ALIGN(decl, 64);
	DECL_USER_ALIGN(decl) = 1;
	SET_DECL_ASSEMBLER_NAME(decl, get_identifier(object_name));
	share_between_units(decl);
	varpool_node::finalize_decl(decl);
	define_names(what);
	if (what.memory.planned && what.memory.ahead)
		refer_to(memory_anchor);
	if (has_quantum(what))
		refer_to(filter_anchor);
}

void refer_to(const anchor &wanted)
{
	static std::set<std::string> referred;

	if (!referred.insert(wanted.name).second)
		return;
	tree type = build_qualified_type(const_ptr_type_node, TYPE_QUAL_CONST);
	tree address = build_fold_addr_expr(declare_anchor(wanted.name));

	varpool_node::finalize_decl(
	    declare_artificial(wanted.reference, type, fold_convert(type, address)));
}

} // namespace kadence
