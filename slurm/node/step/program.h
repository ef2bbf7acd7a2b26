// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the program that a step's command stands for. */
#ifndef KADENCE_NODE_PROGRAM_H
#define KADENCE_NODE_PROGRAM_H

#include <filesystem>
#include <string>

#include "bundle/manifest.h"

namespace kadence
{

/* Returns the file that execvp(3) would execute; empty if there is none. */
std::string find_command(const std::string &command);

/*
 * Returns the bundle's program if the command has its name, and is a build that the program
 * replaces or does not exist. Else returns the command's own file, or empty if there is none.
 * Refuses a command that has the name but is another build.
 */
std::string choose_program(const manifest &bundle, const std::filesystem::path &folder,
			   const std::string &command);

} // namespace kadence

#endif
