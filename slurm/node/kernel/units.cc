// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/units.h"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <set>
#include <sstream>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "base/refusal.h"

namespace kadence
{

namespace fs = std::filesystem;

namespace
{

const fs::path of_driver = "/sys/kernel/kadapt/units";
const fs::path of_everybody = "/sys/kernel/livepatch";
const uint64_t largest_text = 1 << 16;
const int64_t turn_ns = 20000000;

/* Returns an empty text for a file that is gone. */
std::string text_of(const fs::path &file)
{
	try {
		std::string text = read_file(file, largest_text);

		while (!text.empty() && text.back() == '\n')
			text.pop_back();
		return text;
	} catch (const refusal &) {
		return {};
	}
}

std::vector<fs::path> folders_in(const fs::path &folder)
{
	std::vector<fs::path> found;
	std::error_code none;

	for (const auto &entry : fs::directory_iterator(folder, none))
		if (entry.is_directory(none))
			found.push_back(entry.path());
	std::sort(found.begin(), found.end());
	return found;
}

std::vector<std::string> lines_of(const std::string &text)
{
	std::istringstream stream(text);
	std::vector<std::string> lines;

	for (std::string line; std::getline(stream, line);)
		lines.push_back(line);
	return lines;
}

/* Folders FUNCTION,POSITION in a folder for each patched object. */
std::vector<std::string> patched_functions(const fs::path &patch)
{
	std::set<std::string> names;

	for (const fs::path &object : folders_in(patch))
		for (const fs::path &function : folders_in(object)) {
			const std::string name = function.filename().string();

			names.insert(name.substr(0, name.find(',')));
		}
	return {names.begin(), names.end()};
}

bool is_changing(const std::string &name)
{
	return text_of(of_everybody / name / "transition") == "1";
}

/* Waits until the kernel has changed all tasks; false if it has not by then. */
bool await_change(const std::string &name, int64_t deadline_ns)
{
	const timespec turn = {0, turn_ns};

	while (is_changing(name)) {
		if (monotonic_ns() > deadline_ns)
			return false;
		nanosleep(&turn, nullptr);
	}
	return true;
}

void write_to(const fs::path &file, const std::string &text, const std::string &name)
{
	const descriptor opened(open(file.c_str(), O_WRONLY | O_CLOEXEC));

	if (opened.get() < 0 ||
	    write(opened.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
		refuse_errno("unit " + name +
			     " stays, and the kernel's log says which task is inside");
}

void disable_patch(const std::string &name, int64_t deadline_ns)
{
	if (text_of(of_everybody / name / "enabled") == "1")
		write_to(of_everybody / name / "enabled", "0", name);
	if (!await_change(name, deadline_ns))
		throw refusal("unit " + name + " is still being removed");
}

} // namespace

std::vector<running_unit> running_units()
{
	std::vector<running_unit> units;

	for (const fs::path &folder : folders_in(of_driver))
		if (text_of(folder / "installed") == "1")
			units.push_back({folder.filename().string(), false,
					 lines_of(text_of(folder / "functions"))});
	for (const fs::path &patch : folders_in(of_everybody))
		units.push_back({patch.filename().string(), true, patched_functions(patch)});
	return units;
}

bool has_unit(const std::string &name)
{
	const std::vector<running_unit> units = running_units();

	return std::any_of(units.begin(), units.end(),
			   [&](const running_unit &unit) { return unit.name == name; });
}

bool needs_driver(const std::string &bytes)
{
	return bytes.find("kadapt_unit_install") != std::string::npos;
}

void load_unit(const std::string &name, const std::string &bytes, int64_t deadline_ns)
{
	if (syscall(SYS_init_module, bytes.data(), bytes.size(), ""))
		refuse_errno("this node's kernel does not take unit " + name);
	if (!await_change(name, deadline_ns))
		throw refusal("unit " + name + " is still being installed");
}

void unload_unit(const std::string &name, int64_t deadline_ns)
{
	const timespec turn = {0, turn_ns};

	if (fs::exists(of_everybody / name))
		disable_patch(name, deadline_ns);
	else if (fs::exists(of_driver / name))
		write_to(of_driver / name / "installed", "0", name);
	/* A unit that is a part of the kernel has no module to unload. */
	while (syscall(SYS_delete_module, name.c_str(), O_NONBLOCK) && errno != ENOENT) {
		if ((errno != EWOULDBLOCK && errno != EBUSY) || monotonic_ns() > deadline_ns)
			refuse_errno("unit " + name + " is removed, but its module stays loaded");
		nanosleep(&turn, nullptr);
	}
}

} // namespace kadence
