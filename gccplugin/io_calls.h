/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The calls of the C library that have a counterpart in libkadapt: the same name behind kadapt_,
 * with the same type.
 */
#ifndef KADENCE_IO_CALLS_H
#define KADENCE_IO_CALLS_H

#include "gcc_compat.h"

#include <string>

namespace kadence
{

struct io_call {
	const char *name; /* assembler name */
	/*
	 * What it returns, then what it takes: i int, u unsigned int, l long, z size_t, p a
	 * pointer, and at the end . for variable arguments.
	 */
	const char *type;
};

/* The call of this name, or null. */
const io_call *find_io_call(const std::string &name);

/* Whether a function of this type is declared as the C library has it. */
bool has_type_of(const io_call &call, const_tree function_type);

/* Tells the garbage collector what this file keeps; call once at start. */
void register_io_call_roots(const char *plugin_name);

/* libkadapt's counterpart of `original`, which is this call. */
tree counterpart_of(const io_call &call, tree original);

} // namespace kadence

#endif
