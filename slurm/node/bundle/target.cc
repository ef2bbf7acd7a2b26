// SPDX-License-Identifier: GPL-2.0-or-later
#include "bundle/target.h"

#include "base/refusal.h"

namespace kadence
{

namespace
{

const char none[] = "none";

/* The site's module serves any bundle. The other targets need a part of the bundle. */
bool brings(const manifest &bundle, const std::string &target)
{
	if (target == "um")
		return bundle.kernels.count(target) != 0;
	return target == "module" || bundle.configurations.count("x86_64") != 0;
}

void require_allowed(const manifest &bundle, const site &rules, const std::string &target)
{
	if (!rules.allows_target(target))
		throw refusal("target " + target + " is not among the targets of " +
			      rules.file.string());
	if (!brings(bundle, target))
		throw refusal("bundle " + bundle.name + " has nothing for target " + target +
			      "; choose another with --kadence-target");
}

} // namespace

std::string choose_target(const manifest &bundle, const site &rules, const std::string &wish,
			  std::string &notice)
{
	std::string best = none;
	double best_ratio = 1;

	if (wish == none)
		return wish;
	if (!wish.empty()) {
		require_allowed(bundle, rules, wish);
		return wish;
	}
	for (const auto &[target, measured] : bundle.measured)
		if (measured.outcome == "faster" && measured.ratio > 0 &&
		    measured.ratio < best_ratio && rules.allows_target(target) &&
		    brings(bundle, target)) {
			best = target;
			best_ratio = measured.ratio;
		}
	if (best == none)
		notice = "no target was measured faster than the plain program for bundle " +
			 bundle.name + ", so it runs as it is; name one with --kadence-target";
	return best;
}

} // namespace kadence
