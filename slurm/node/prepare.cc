// SPDX-License-Identifier: GPL-2.0-or-later
#include <sys/stat.h>
#include <unistd.h>

#include "bundle.h"
#include "commands.h"
#include "confine.h"
#include "file.h"
#include "finish.h"
#include "job.h"
#include "kexec.h"
#include "key_ring.h"
#include "module.h"
#include "refusal.h"
#include "store.h"
#include "target.h"

namespace kadence
{

namespace fs = std::filesystem;

namespace
{

bool is_answered(const job_state &state, const wish &what)
{
	return state.boot == boot_id() && state.user == what.user &&
	       (what.bundle.empty() || (state.bundle == what.bundle && state.wish == what.target &&
					state.fallback == what.fallback));
}

void make_job_folder(const fs::path &folder, const person &whose)
{
	const fs::path steps = folder / "steps";

	fs::remove_all(folder);
	/* No list of users here: a guest's kernel knows of none, and its programs write to steps.
	 */
	if (mkdir(folder.c_str(), 0711) || mkdir(steps.c_str(), 0700) ||
	    chown(steps.c_str(), whose.user, whose.group))
		refuse_errno("cannot make " + folder.string());
}

/* All that depends on the bundle; each of its faults is a refusal. */
void accept_bundle(const site &rules, const wish &what, const confinement &limits, job_state &state)
{
	if (!rules.allows_user(limits.whose.name))
		throw refusal("user " + limits.whose.name + " is not among the users of " +
			      rules.file.string());
	const kept_bundle kept = keep_bundle(rules, what.bundle, what.discard, limits);
	const manifest bundle = parse_manifest(kept.manifest);
	state.store = kept.folder.string();
	state.target = choose_target(bundle, rules, what.target, state.notice);
	if (state.target == "kexec")
		require_kernel(bundle.configurations.at("x86_64"));
	if (state.target == "kexec" || state.target == "module")
		prepare_module(rules, what, limits.deadline_ns);
}

job_state decide(const site &rules, const wish &what, const fs::path &folder,
		 const confinement &limits)
{
	job_state state;

	state.job = what.job;
	state.user = what.user;
	state.boot = boot_id();
	state.bundle = what.bundle;
	state.target = "none";
	state.wish = what.target;
	state.fallback = what.fallback;
	state.steps = (folder / "steps").string();
	state.site = rules.file.string();
	state.boot_seconds = rules.boot_seconds;
	try {
		accept_bundle(rules, what, limits, state);
	} catch (const std::exception &error) {
		state.refused = error.what();
	}
	return state;
}

} // namespace

void check(const site &rules, const std::string &bundle, const std::string &target)
{
	const descriptor file = open_bundle(bundle, rules);
	std::string notice;

	const manifest found =
	    parse_manifest(unpack(file.get(), nowhere, rules, read_key_ring(rules.key_ring)));
	choose_target(found, rules, target, notice);
}

std::string kernel_of(const site &rules, const std::string &bundle)
{
	const descriptor file = open_bundle(bundle, rules);
	std::string notice;

	const manifest found =
	    parse_manifest(unpack(file.get(), nowhere, rules, read_key_ring(rules.key_ring)));
	choose_target(found, rules, "kexec", notice);
	return found.configurations.at("x86_64");
}

std::string prepare(const site &rules, const wish &what)
{
	const int64_t start = monotonic_ns();
	const confinement limits = {
	    find_person(what.user),
	    start + static_cast<int64_t>(rules.prepare_seconds) * INT64_C(1000000000), 0, ""};
	const fs::path of_job = rules.jobs() / what.job;
	fs::path folder = of_job;
	job_state state;

	make_spool(rules);
	const descriptor lock = lock_spool(rules, limits.deadline_ns);
	finish_stale(rules, what.node);
	if (read_state(of_job, state)) {
		if (is_answered(state, what))
			return of_job.string();
		if (!what.step.empty())
			folder += "." + what.step;
	}
	if (what.bundle.empty())
		throw refusal("job " + what.job + " has no bundle on this node");
	make_job_folder(folder, limits.whose);
	state = decide(rules, what, folder, limits);
	state.prepare_ms = static_cast<double>(monotonic_ns() - start) / 1e6;
	write_state(folder, state);
	trim_store(rules, bundles_in_use(rules));
	return folder.string();
}

} // namespace kadence
