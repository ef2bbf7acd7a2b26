// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/trials.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/refusal.h"

namespace kadence
{

namespace fs = std::filesystem;

namespace
{

/* A process leaves less than 1 MiB for each phase. */
const uint64_t largest_trials = UINT64_C(64) << 20;
const uint64_t largest_total = UINT64_C(256) << 20;
const char ending[] = ".trials";
const char digits[] = "0123456789";

/* The user may have put anything into the folder. */
bool is_trials_of_step(const fs::path &path)
{
	const std::string number = path.stem().string();

	return path.extension() == ending && !number.empty() &&
	       number.find_first_not_of(digits) == std::string::npos;
}

/* Refuses anything but a regular file: a link may lead anywhere. */
std::string read_trials(const fs::path &path)
{
	const std::string name = path.filename().string();
	const descriptor file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
	struct stat status;

	if (file.get() < 0 || fstat(file.get(), &status) || !S_ISREG(status.st_mode))
		throw refusal(name + " cannot be read");
	return read_all(file.get(), largest_trials, name);
}

std::string keep_as_user(const fs::path &folder, const fs::path &records, const std::string &node)
{
	std::string lost;
	uint64_t total = 0;

	for (const auto &entry : fs::directory_iterator(folder)) {
		const std::string name = entry.path().filename().string();

		if (!is_trials_of_step(entry.path()))
			continue;
		try {
			const std::string text = read_trials(entry.path());

			total += text.size();
			if (total > largest_total)
				throw refusal("all together are too large");
			write_atomically(records / (node + "." + name), text, 0600);
		} catch (const refusal &problem) {
			lost = problem.what();
		}
	}
	return lost;
}

} // namespace

std::string keep_trials(const fs::path &folder, const fs::path &records, const std::string &node,
			const confinement &limits)
{
	confinement wide = limits;
	std::string lost;

	wide.largest_file = largest_trials;
	try {
		lost = confine(wide, [&] { return keep_as_user(folder, records, node); });
	} catch (const std::exception &problem) {
		lost = problem.what();
	}
	return lost.empty() ? lost : "not all records of trials were kept: " + lost;
}

} // namespace kadence
