/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The calls of the C and C++ libraries that have a counterpart in libkadapt: the same name behind
 * kadapt_. A counterpart of I/O has the same type; one that gives out memory takes one argument
 * more, what is to be done with it.
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
	/* What it returns, then what it takes: i int, l long, z size_t, p a pointer. */
	const char *type;
};

/* A loop of it may become a batch. Alone it has no counterpart, and stays as it is. */
extern const library_call batched_send;

/* The call of this name that has a counterpart, or null. */
const library_call *find_library_call(const std::string &name);

/* Whether a function of this type is declared as the C library has it. */
bool has_type_of(const library_call &call, const_tree function_type);

/* Tells the garbage collector what this file keeps; call once at start. */
void register_library_call_roots(const char *plugin_name);

/* libkadapt's counterpart of `original`, which is this call. */
tree counterpart_of(const library_call &call, tree original);

} // namespace kadence

#endif
