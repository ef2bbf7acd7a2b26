// SPDX-License-Identifier: GPL-2.0-or-later
#include "step/program.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <unistd.h>

#include "verify/build_id.h"
#include "base/refusal.h"

namespace kadence
{

namespace fs = std::filesystem;

namespace
{

bool is_executable_file(const fs::path &path)
{
	std::error_code missing;

	return fs::is_regular_file(path, missing) && !access(path.c_str(), X_OK);
}

bool is_made_from(const bundled_program &program, const std::string &build_id)
{
	return build_id == program.build_id ||
	       std::find(program.replaces.begin(), program.replaces.end(), build_id) !=
		   program.replaces.end();
}

} // namespace

std::string find_command(const std::string &command)
{
	const char *path = getenv("PATH");
	std::istringstream folders(path ? path : "");
	std::string folder;

	if (command.find('/') != std::string::npos)
		return is_executable_file(command) ? command : std::string();
	while (std::getline(folders, folder, ':')) {
		const fs::path candidate = fs::path(folder.empty() ? "." : folder) / command;

		if (is_executable_file(candidate))
			return candidate.string();
	}
	return {};
}

std::string choose_program(const manifest &bundle, const fs::path &folder,
			   const std::string &command)
{
	const std::string found = find_command(command);
	const auto program = std::find_if(
	    bundle.programs.begin(), bundle.programs.end(), [&](const bundled_program &one) {
		    return one.name == fs::path(command).filename().string();
	    });

	if (program == bundle.programs.end())
		return found;
	if (!found.empty() && !is_made_from(*program, build_id_of(found)))
		throw refusal(found + " is not the program that bundle " + bundle.name +
			      " was made from; make the bundle anew");
	return (folder / program->file).string();
}

} // namespace kadence
