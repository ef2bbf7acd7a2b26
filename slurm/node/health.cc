// SPDX-License-Identifier: GPL-2.0-or-later
#include "health.h"

#include <cstring>
#include <fcntl.h>
#include <functional>
#include <string>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/file.h"
#include "base/refusal.h"
#include "job/job.h"
#include "kadapt.h"
#include "kernel/kexec.h"
#include "verify/key_ring.h"

namespace kadence
{

namespace fs = std::filesystem;

namespace
{

/* Throws a refusal, or returns what is well. */
using examination = std::function<std::string()>;

std::string examine_keys(const site &rules)
{
	const size_t keys = read_key_ring(rules.key_ring).size();

	if (!keys && rules.signatures_required)
		throw refusal(rules.key_ring.string() +
			      " has no key NAME.pub; put the public keys of users there");
	return std::to_string(keys) + " keys in " + rules.key_ring.string();
}

/* The nearest folder that is there: the rest is made when it is needed. */
fs::path existing(fs::path folder)
{
	while (!fs::exists(folder) && folder.has_relative_path())
		folder = folder.parent_path();
	return folder;
}

void require_private(const fs::path &folder)
{
	struct stat status;

	if (stat(folder.c_str(), &status))
		refuse_errno("cannot look at " + folder.string());
	if (status.st_uid != 0 || (status.st_mode & S_IWOTH && !(status.st_mode & S_ISVTX)))
		throw refusal(folder.string() +
			      " can be changed by users; give it to root, mode 0755");
}

std::string examine_spool(const site &rules)
{
	const fs::path folder = existing(rules.spool);
	struct statvfs space;

	require_private(folder);
	if (statvfs(folder.c_str(), &space))
		refuse_errno("cannot look at " + folder.string());
	const uint64_t free = static_cast<uint64_t>(space.f_bavail) * space.f_frsize;
	if (free < rules.largest_unpacked)
		throw refusal(folder.string() + " has " + std::to_string(free >> 20) +
			      " MiB free, and a bundle may need " +
			      std::to_string(rules.largest_unpacked >> 20) + "; make room");
	return rules.spool.string() + ", " + std::to_string(free >> 20) + " MiB free";
}

std::string examine_records(const site &rules)
{
	const fs::path folder = existing(rules.records);

	if (access(folder.c_str(), W_OK))
		refuse_errno("cannot write to " + folder.string());
	return "records in " + rules.records.string();
}

std::string examine_leftovers(const site &rules)
{
	const std::string boot = boot_id();
	size_t jobs = 0;

	if (!fs::exists(rules.jobs()))
		return "no jobs";
	for (const auto &entry : fs::directory_iterator(rules.jobs())) {
		job_state state;

		if (!read_state(entry.path(), state) || state.boot != boot)
			throw refusal(entry.path().string() + " is left from before a crash; "
							      "kadence-node sweep removes it");
		jobs++;
	}
	return std::to_string(jobs) + " jobs";
}

/* The guest is started by our own interpreter, beside this program. */
std::string examine_um()
{
	const fs::path home =
	    fs::read_symlink("/proc/self/exe").parent_path().parent_path().parent_path();

	for (const char *part : {".venv/bin/python", "build/boot/relay", "build/boot/init"})
		if (access((home / part).c_str(), X_OK))
			throw refusal((home / part).string() + " is missing, and target um needs "
							       "it; install package kadence");
	return "target um";
}

std::string examine_module(const site &rules)
{
	const descriptor device(open("/dev/kadapt", O_RDWR | O_CLOEXEC));
	kadapt_query query;

	memset(&query, 0, sizeof(query));
	if (device.get() < 0 && !fs::exists(rules.store))
		throw refusal("there is neither /dev/kadapt nor " + rules.store.string() +
			      ", and target module needs one; see kadence site build");
	if (device.get() < 0)
		return "target module, loaded for each job";
	if (ioctl(device.get(), KADAPT_QUERY, &query))
		refuse_errno("/dev/kadapt does not answer");
	return "target module, /dev/kadapt version " + std::to_string(query.version) +
	       (query.features & KADAPT_FEATURE_QUANTUM ? ", quanta" : "") +
	       (query.features & KADAPT_FEATURE_RINGS ? ", rings" : "") +
	       (query.features & KADAPT_FEATURE_UNITS ? ", units" : "");
}

void require_kexec()
{
	const char *const switch_off = "/proc/sys/kernel/kexec_load_disabled";

	if (!fs::exists(switch_off))
		throw refusal("this node's kernel has no kexec, and target kexec needs it");
	if (read_file(switch_off, 16) != "0\n")
		throw refusal(std::string(switch_off) +
			      " forbids kexec until the next boot, and target kexec needs it");
}

std::string examine_kexec(const site &rules)
{
	const fs::path kernels = rules.store / "kernels";
	size_t count = 0;

	if (fs::exists(kernels))
		for (const auto &entry : fs::directory_iterator(kernels)) {
			verify_kernel(rules, entry.path().filename());
			count++;
		}
	if (!count)
		throw refusal(kernels.string() +
			      " has no kernel, and target kexec needs one; see kadence site build");
	require_kexec();
	return "target kexec, kernels: " + std::to_string(count) + ", in " + kernels.string();
}

} // namespace

void check_node(const site &rules, std::ostream &out)
{
	size_t problems = 0;
	const auto examine = [&](const examination &one) {
		try {
			const std::string well = one();

			out << "ok       " << well << '\n';
		} catch (const std::exception &error) {
			out << "problem  " << error.what() << '\n';
			problems++;
		}
	};

	out << "ok       "
	    << (fs::exists(rules.file) ? "rules in " : "default rules, without a file ")
	    << rules.file.string() << '\n';
	examine([&] { return examine_keys(rules); });
	examine([&] { return examine_spool(rules); });
	examine([&] { return examine_records(rules); });
	examine([&] { return examine_leftovers(rules); });
	if (rules.allows_target("um"))
		examine(examine_um);
	if (rules.allows_target("module"))
		examine([&] { return examine_module(rules); });
	if (rules.allows_target("kexec"))
		examine([&] { return examine_kexec(rules); });
	if (problems)
		throw refusal(std::to_string(problems) +
			      (problems == 1 ? " problem" : " problems") + " on this node");
}

} // namespace kadence
