// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/leftovers.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "base/refusal.h"

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
		return false; /* the process has ended meanwhile */
	}
}

std::string entry_of(const fs::path &folder)
{
	return "KADENCE_JOB=" + folder.string();
}

/*
 * Another process may get the number meanwhile, so this opens a handle (pidfd) first and checks the
 * environment again. If the process ends after that check, the signal reaches nobody, even if the
 * number is used again. Kernels before 5.3 (RHEL 8) have no handles.
 */
void kill_if_still(pid_t process, const fs::path &folder)
{
	const int handle = static_cast<int>(syscall(SYS_pidfd_open, process, 0));

	if (handle < 0) {
		if (errno == ENOSYS)
			kill(process, SIGKILL);
		return;
	}
	if (carries(fs::path("/proc") / std::to_string(process), entry_of(folder)))
		syscall(SYS_pidfd_send_signal, handle, SIGKILL, nullptr, 0);
	close(handle);
}

} // namespace

std::vector<pid_t> processes_of(const fs::path &folder)
{
	std::vector<pid_t> found;
	std::error_code ended;

	for (const auto &entry : fs::directory_iterator("/proc", ended)) {
		const std::string name = entry.path().filename().string();

		if (name.find_first_not_of("0123456789") == std::string::npos &&
		    carries(entry.path(), entry_of(folder)))
			found.push_back(static_cast<pid_t>(std::strtol(name.c_str(), nullptr, 10)));
	}
	return found;
}

size_t kill_leftovers(const fs::path &folder)
{
	const std::vector<pid_t> found = processes_of(folder);

	for (const pid_t process : found)
		kill_if_still(process, folder);
	return found.size();
}

} // namespace kadence
