/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The calls of the C and C++ libraries (kadapt/lib/calls.def) that have a counterpart in libkadapt:
 * the same name behind kadapt_. A counterpart for I/O has the same type. A counterpart that
 * allocates memory takes one more argument, the treatments of the memory.
 */
#ifndef KADENCE_LIBRARY_CALLS_H
#define KADENCE_LIBRARY_CALLS_H

#include "base/gcc_compat.h"
#include "plan/plan.h"

#include <string>

namespace kadence
{

struct library_call {
	site_kind kind;
	const char *name; /* assembler name */
	/* The type of the result, then of each argument: i int, l long, z size_t, p a pointer. */
	const char *type;
};

/* A loop of these calls may become a batch. A single call stays plain. */
extern const library_call batched_send;

/* The call of this name that has a counterpart, or null. */
const library_call *find_library_call(const std::string &name);

/* Whether a function of this type is declared as the C library has it. */
bool has_type_of(const library_call &call, const_tree function_type);

/* Registers this file's roots with the garbage collector. Call it once at the start. */
void register_library_call_roots(const char *plugin_name);

/* libkadapt's counterpart of `original`, a declaration of this call. */
tree counterpart_of(const library_call &call, tree original);

} // namespace kadence

#endif
