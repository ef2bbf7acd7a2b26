// SPDX-License-Identifier: GPL-2.0-or-later
/* Modules of the site's store for the kernel that runs: the driver and units. */
#ifndef KADENCE_NODE_SITE_UNITS_H
#define KADENCE_NODE_SITE_UNITS_H

#include <cstdint>
#include <string>
#include <vector>

#include "bundle/manifest.h"
#include "site/site.h"

namespace kadence
{

/* A unit's module, whose signature was verified. */
struct signed_unit {
	std::string name;
	std::string bytes;
};

/* The site's kadapt.ko for this kernel. */
std::string site_driver(const site &rules);

/* The site's unit of this name for this kernel; refuses if there is none. */
signed_unit site_unit(const site &rules, const std::string &name);

/*
 * Those of a bundle's units that have to be installed. Adds a sentence to `without` for each unit
 * that is not installed and that the site does not have in the bundle's version.
 */
std::vector<signed_unit> site_units(const site &rules, const std::vector<bundled_unit> &units,
				    std::string &without);

/* Installs units; adds a sentence to `without` for each that the kernel does not take. */
void install(const std::vector<signed_unit> &units, int64_t deadline_ns, std::string &without);

} // namespace kadence

#endif
