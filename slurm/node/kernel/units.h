// SPDX-License-Identifier: GPL-2.0-or-later
/* The units of the running kernel: the driver's, for phases, and live patches, for everybody. */
#ifndef KADENCE_NODE_UNITS_H
#define KADENCE_NODE_UNITS_H

#include <cstdint>
#include <string>
#include <vector>

namespace kadence
{

struct running_unit {
	std::string name;
	bool for_everybody = false;
	std::vector<std::string> functions;
};

std::vector<running_unit> running_units();
bool has_unit(const std::string &name);

/* Whether the unit's module needs the driver. Units for everybody do not. */
bool needs_driver(const std::string &bytes);

/*
 * Loads a unit's module from memory, so that nothing changes between check and use. Returns when
 * all tasks may take the unit, or refuses.
 */
void load_unit(const std::string &name, const std::string &bytes, int64_t deadline_ns);

/* Removes a unit and unloads its module; refuses if a task stays inside. */
void unload_unit(const std::string &name, int64_t deadline_ns);

} // namespace kadence

#endif
