/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The part of a plan (schema kadence.plan, docs/artefacts.md) that the compiler needs. Knows
 * nothing of GCC: the compiler's headers forbid what a JSON parser calls.
 */
#ifndef KADENCE_PLAN_H
#define KADENCE_PLAN_H

#include <cstdint>
#include <string>
#include <vector>

namespace kadence
{

enum class marker_kind { function_entry, loop_preheader };

struct marker {
	uint32_t phase;
	marker_kind kind;
	std::string function; /* assembler name */
	std::string file;     /* empty where the profile knew none */
	unsigned loop;	      /* of a loop_preheader: index in the function's enumeration */
	bool verified;	      /* there is a checksum to compare with */
	uint32_t cfg_checksum;
};

struct policy {
	uint32_t phase;
	uint64_t quantum_ns;
};

struct plan {
	std::vector<policy> policies;
	std::vector<marker> markers;
};

/* Reads the plan at `path`; returns an empty string, or one sentence saying why it is refused. */
std::string read_plan(const char *path, plan &result);

/* The markers of `function` as compiled from `file`; pointers into `from`. */
std::vector<const marker *> markers_of(const plan &from, const std::string &function,
				       const std::string &file);

/* Whether two paths, seen from different working directories, can name the same file. */
bool same_file(const std::string &one, const std::string &other);

} // namespace kadence

#endif
