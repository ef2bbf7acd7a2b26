/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The part of a plan (schema kadence.plan, docs/artefacts-kernel.md) that the compiler needs. This
 * file does not use GCC's headers, because they forbid functions that a JSON parser calls.
 */
#ifndef KADENCE_PLAN_H
#define KADENCE_PLAN_H

#include <cstdint>
#include <string>
#include <unordered_map>
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
	unsigned block; /* in the function's graph, if it was counted; 0: not known */
};

struct policy {
	uint32_t phase;
	std::string name; /* for people and tools */
	uint64_t quantum_ns;
	uint64_t file_delay_ns; /* 0: the driver's default */
	bool memory_plain;	/* page faults in the phase are served as on any kernel */
	uint32_t tried;		/* as KADAPT_TRY_* of libkadapt.h */
	uint32_t visits;	/* that the profiled run made to the phase */
};

/* What earlier runs on one kind of machine showed of a policy. */
struct learned_effect {
	uint32_t phase;
	uint32_t policy; /* one of KADAPT_TRY_* */
	uint32_t level;
	int32_t effect_ppm;
	uint32_t error_ppm;
	uint64_t machine; /* as kadapt_kind_hash() of kadapt/lib/trials/kind.h */
};

/* What the program tries of its plan while it runs. */
struct trial_use {
	bool planned; /* false: nothing */
	uint64_t id;  /* what records are known by */
	std::vector<learned_effect> learned;
};

enum class site_kind { io, memory };

/* Where calls are redirected to libkadapt. */
struct call_site {
	site_kind kind;
	std::string function;		/* assembler name; empty: every function of the file */
	std::string file;		/* empty where the profile knew none */
	unsigned line;			/* of the call; 0: every call in the function */
	std::vector<std::string> calls; /* assembler names; empty: all that can be redirected */
	bool verified;			/* there is a checksum to compare with */
	uint32_t cfg_checksum;
	uint32_t treatments; /* of memory: as KADAPT_TREAT_* of libkadapt.h */
};

struct io_paths {
	bool planned; /* false: nothing is redirected */
	bool streams; /* redirect the writes of shared libraries, too */
	std::vector<call_site> sites;
};

/* Memory that is made present ahead, or kept. */
struct memory_use {
	bool planned;		    /* false: nothing */
	uint32_t ahead;		    /* as KADAPT_AHEAD_* of libkadapt.h */
	uint64_t keep_bytes;	    /* freed memory that may stay with the program */
	uint64_t fresh_least_bytes; /* smaller blocks are malloc's */
	std::vector<call_site> sites;
};

struct block_count {
	unsigned block; /* index in the function's graph */
	uint64_t count;
};

/* How often a function's blocks ran; other blocks did not run. */
struct counted_function {
	std::string file;
	uint32_t cfg_checksum;
	std::vector<block_count> blocks;
};

/* How often the program's code ran, from which the compiler lays it out. */
struct code_layout {
	bool planned;  /* false: no counts */
	uint64_t most; /* of all blocks; at least 1 */
	std::unordered_multimap<std::string, counted_function> functions; /* by assembler name */
};

struct plan {
	std::vector<policy> policies;
	std::vector<marker> markers;
	io_paths io;
	memory_use memory;
	trial_use trials;
	code_layout layout;
};

/* The markers of `function` as compiled from `file`; pointers into `from`. */
std::vector<const marker *> markers_of(const plan &from, const std::string &function,
				       const std::string &file);

/* The sites, of I/O and of memory, in `function` as compiled from `file`; pointers into `from`. */
std::vector<const call_site *> sites_of(const plan &from, const std::string &function,
					const std::string &file);

/* The counts of `function` as compiled from `file`; pointers into `from`. */
std::vector<const counted_function *>
counted_as(const code_layout &from, const std::string &function, const std::string &file);

/* Whether two paths can name the same file, seen from different working directories. */
bool same_file(const std::string &one, const std::string &other);

} // namespace kadence

#endif
