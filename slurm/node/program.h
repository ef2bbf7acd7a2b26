// SPDX-License-Identifier: GPL-2.0-or-later
/* Which program a step's command means. */
#ifndef KADENCE_NODE_PROGRAM_H
#define KADENCE_NODE_PROGRAM_H

#include <filesystem>
#include <string>

#include "manifest.h"

namespace kadence
{

/* The file that execvp(3) would take, or empty: there is none. */
std::string find_command(const std::string &command);

/*
 * The bundle's program where the command has its name and is what it was made from, or is not
 * there at all; else the command as it is, or empty if there is none. Refuses a command that was
 * built anew since.
 */
std::string choose_program(const manifest &bundle, const std::filesystem::path &folder,
			   const std::string &command);

} // namespace kadence

#endif
