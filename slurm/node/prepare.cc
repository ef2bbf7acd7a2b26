// SPDX-License-Identifier: GPL-2.0-or-later
#include <functional>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "bundle/bundle.h"
#include "commands.h"
#include "base/confine.h"
#include "base/file.h"
#include "finish.h"
#include "job/job.h"
#include "kernel/kexec.h"
#include "verify/key_ring.h"
#include "kernel/module.h"
#include "base/refusal.h"
#include "bundle/store.h"
#include "bundle/target.h"

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

void add_notice(std::string &notice, const std::string &more)
{
	notice += (notice.empty() || more.empty() ? "" : "; ") + more;
}

/* Takes the decisions that depend on the bundle. */
void choose(const site &rules, const wish &what, const confinement &limits, const kept_bundle &kept,
	    job_state &state)
{
	const manifest bundle = parse_manifest(kept.manifest);

	state.store = kept.folder.string();
	state.target = choose_target(bundle, rules, what.target, state.notice);
	if (state.target == "kexec")
		require_kernel(bundle.configurations.at("x86_64"));
	if (state.target == "kexec" || state.target == "module")
		add_notice(state.notice,
			   prepare_module(rules, what, bundle.units, limits.deadline_ns));
}

job_state undecided(const site &rules, const wish &what)
{
	job_state state;

	state.job = what.job;
	state.user = what.user;
	state.boot = boot_id();
	state.bundle = what.bundle;
	state.target = "none";
	state.wish = what.target;
	state.fallback = what.fallback;
	state.site = rules.file.string();
	state.boot_seconds = rules.boot_seconds;
	return state;
}

/* The preparation of a job. It locks the spool only while it reads or changes it. */
class preparation
{
      public:
	preparation(const site &rules, const wish &what)
	    : rules_(rules), what_(what), start_(monotonic_ns()), limits_(limits_from(start_)),
	      state_(undecided(rules, what))
	{
	}

	std::string run()
	{
		if (!is_answered_already()) {
			if (staged_)
				refuse_faults_of([&] { stage(); });
			while (!decide())
				refuse_faults_of([&] { staged_->unpack(); });
		}
		remove_all(out_);
		return folder_.string();
	}

      private:
	confinement limits_from(int64_t start) const
	{
		return {find_person(what_.user),
			start + static_cast<int64_t>(rules_.prepare_seconds) * INT64_C(1000000000),
			0, ""};
	}

	bool is_answered_already()
	{
		sweep(rules_, what_.node);
		const descriptor lock = lock_spool(rules_, limits_.deadline_ns);
		if (is_answered())
			return true;
		if (what_.bundle.empty())
			throw refusal("job " + what_.job + " has no bundle on this node");
		refuse_faults_of([&] { staged_.emplace(rules_, limits_); });
		return false;
	}

	/* Also sets folder_: the job's, or the step's if the step brings another bundle. */
	bool is_answered()
	{
		const fs::path of_job = rules_.jobs() / what_.job;
		job_state found;

		folder_ = of_job;
		if (!read_state(of_job, found))
			return false;
		if (kadence::is_answered(found, what_))
			return true;
		if (!what_.step.empty())
			folder_ += "." + what_.step;
		return false;
	}

	/* Notes a failure of `work` as the job's refusal. The prolog goes on. */
	void refuse_faults_of(const std::function<void()> &work)
	{
		try {
			work();
		} catch (const std::exception &error) {
			staged_.reset();
			state_.refused = error.what();
		}
	}

	/* Runs without the lock, because a large bundle takes long. */
	void stage()
	{
		if (!rules_.allows_user(limits_.whose.name))
			throw refusal("user " + limits_.whose.name + " is not among the users of " +
				      rules_.file.string());
		staged_->copy(what_.bundle, what_.discard);
		staged_->unpack();
	}

	/* Returns false if the bundle must be unpacked once more. */
	bool decide()
	{
		const descriptor lock = lock_spool(rules_, limits_.deadline_ns);
		std::optional<kept_bundle> kept;

		/* Another task of the same job may have been quicker. */
		if (is_answered())
			return true;
		if (staged_)
			refuse_faults_of([&] { kept = staged_->publish(); });
		if (staged_ && !kept)
			return false;
		make_job_folder();
		if (kept)
			refuse_faults_of([&] { choose(rules_, what_, limits_, *kept, state_); });
		state_.steps = (folder_ / "steps").string();
		state_.prepare_ms = static_cast<double>(monotonic_ns() - start_) / 1e6;
		write_state(folder_, state_);
		for (outcast &one : trim_store(rules_, bundles_in_use(rules_)))
			out_.push_back(std::move(one));
		return true;
	}

	void make_job_folder()
	{
		const fs::path steps = folder_ / "steps";

		if (fs::exists(folder_))
			out_.push_back(put_out(rules_, folder_));
		/* No access control list here: programs in a guest write to steps, and the guest's
		 * kernel does not see such lists. */
		if (mkdir(folder_.c_str(), 0711) || mkdir(steps.c_str(), 0700) ||
		    chown(steps.c_str(), limits_.whose.user, limits_.whose.group))
			refuse_errno("cannot make " + folder_.string());
	}

	const site &rules_;
	const wish &what_;
	const int64_t start_;
	const confinement limits_;
	job_state state_;
	fs::path folder_;
	std::optional<staged_bundle> staged_;
	std::vector<outcast> out_;
};

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
	return preparation(rules, what).run();
}

} // namespace kadence
