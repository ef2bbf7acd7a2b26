// SPDX-License-Identifier: GPL-2.0-or-later
/* A bundle's manifest.json: see docs/artefacts-jobs.md. */
#ifndef KADENCE_NODE_MANIFEST_H
#define KADENCE_NODE_MANIFEST_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace kadence
{

struct bundled_file {
	std::string path; /* relative, without . and .. */
	uint64_t bytes = 0;
	std::string sha256; /* 64 hex digits */
	bool executable = false;
};

struct bundled_program {
	std::string file; /* in the bundle */
	std::string name; /* of the command it stands for */
	std::string build_id;
	std::vector<std::string> replaces; /* build-ids of the program before it was adapted */
};

/* A unit that the program's phases take (docs/live.md). */
struct bundled_unit {
	std::string name;
	std::vector<unsigned int> phases; /* empty: all */
	std::string sha256;		  /* of its source and all that is compiled with it */
};

/* A report's verdict on a target, against the plain program on the machine's own kernel. */
struct measurement {
	std::string outcome;
	double ratio = 0; /* of the times; 0: unknown */
};

struct manifest {
	std::string name;
	std::string build_id;
	std::string architecture; /* as uname -m */
	uint64_t interface = 0;	  /* least KADAPT_VERSION */
	std::vector<bundled_program> programs;
	std::vector<bundled_unit> units;
	std::map<std::string, std::string> kernels;	   /* target -> file in the bundle */
	std::map<std::string, std::string> configurations; /* target -> ID of the kernel it wants */
	std::map<std::string, measurement> measured;	   /* by target */
	std::vector<bundled_file> files;		   /* in the archive's order */
};

/* Whether a unit may have this name, which becomes a part of a path and of a variable. */
bool is_unit_name(const std::string &name);

/* The value of KADAPT_UNITS, by which libkadapt takes the units; empty if there are none. */
std::string units_variable(const manifest &bundle);

/* Refuses fields that are missing, of another type, out of range or lead out of the bundle. */
manifest parse_manifest(const std::string &text);

} // namespace kadence

#endif
