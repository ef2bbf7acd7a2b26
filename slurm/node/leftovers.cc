// SPDX-License-Identifier: GPL-2.0-or-later
#include "leftovers.h"

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>

#include "file.h"
#include "refusal.h"

namespace kadence
{

namespace fs = std::filesystem;

namespace
{

const uint64_t largest_environment = 4 << 20;

bool carries(const fs::path &process, const std::string &entry)
{
	try {
		const std::string environment =
		    '\0' + read_file(process / "environ", largest_environment);

		return environment.find('\0' + entry + '\0') != std::string::npos;
	} catch (const refusal &) {
		return false; /* it has ended meanwhile */
	}
}

} // namespace

std::vector<pid_t> processes_of(const fs::path &folder)
{
	std::vector<pid_t> found;
	std::error_code ended;

	for (const auto &entry : fs::directory_iterator("/proc", ended)) {
		const std::string name = entry.path().filename().string();

		if (name.find_first_not_of("0123456789") == std::string::npos &&
		    carries(entry.path(), "KADENCE_JOB=" + folder.string()))
			found.push_back(static_cast<pid_t>(std::strtol(name.c_str(), nullptr, 10)));
	}
	return found;
}

size_t kill_leftovers(const fs::path &folder)
{
	const std::vector<pid_t> found = processes_of(folder);

	for (const pid_t process : found)
		kill(process, SIGKILL);
	return found.size();
}

} // namespace kadence
