// SPDX-License-Identifier: GPL-3.0-or-later
#include "plan/plan_trials.h"

#include <cstdlib>

namespace kadence
{
namespace
{

/* As KADAPT_TRY_* of libkadapt.h. */
const named_bit tried_policies[] = {
    {"quantum", 0x1}, {"rings", 0x2}, {"batches", 0x4}, {"memory", 0x8}};

bool read_tried_phase(const json &object, std::vector<policy> &policies)
{
	uint32_t phase, tried, visits;

	if (!object.is_object() || !read_unsigned(object, "phase", phase) ||
	    phase >= policies.size() || !read_bits(object, "policies", tried_policies, tried) ||
	    !read_unsigned(object, "visits", visits))
		return false;
	policies[phase].tried = tried;
	policies[phase].visits = visits;
	return true;
}

/* In millionths; effects beyond a factor of e^20 are damage. */
bool read_millionths(const json &object, const char *key, double least, int32_t &value)
{
	const json *found = member(object, key);
	if (!found || !found->is_number())
		return false;
	const double number = found->get<double>();
	value = static_cast<int32_t>(number * 1e6);
	return number >= least && number <= 20;
}

uint64_t hash_of(const std::string &text)
{
	uint64_t sum = UINT64_C(0xcbf29ce484222325);

	for (const char byte : text)
		sum = (sum ^ static_cast<unsigned char>(byte)) * UINT64_C(0x100000001b3);
	return sum;
}

bool read_machine(const json &object, uint64_t &machine)
{
	std::string processor, kernel;
	uint64_t gib;
	const json *found = member(object, "machine");

	if (!found || !found->is_object() || !read_text(*found, "processor", processor) ||
	    !read_text(*found, "kernel", kernel) || !read_unsigned(*found, "memory_gib", gib))
		return false;
	machine = hash_of(processor + "\n" + kernel + "\n" + std::to_string(gib));
	return true;
}

bool read_policy_name(const json &object, uint32_t &policy)
{
	std::string name;

	if (!read_text(object, "policy", name))
		return false;
	for (const named_bit &known : tried_policies)
		if (name == known.name) {
			policy = known.bit;
			return true;
		}
	return false;
}

bool read_learned(const json &object, size_t policies, learned_effect &result)
{
	int32_t error;

	result = {};
	if (!object.is_object() || !read_unsigned(object, "phase", result.phase) ||
	    result.phase >= policies || !read_policy_name(object, result.policy) ||
	    !read_unsigned(object, "level", result.level) ||
	    !read_millionths(object, "effect", -20, result.effect_ppm) ||
	    !read_millionths(object, "error", 0, error))
		return false;
	result.error_ppm = static_cast<uint32_t>(error);
	return read_machine(object, result.machine);
}

bool read_trial_mode(const json &object, trial_use &result)
{
	std::string mode, id;

	if (!object.is_object() || !read_text(object, "mode", mode) ||
	    !read_text(object, "id", id) || id.size() != 16 ||
	    id.find_first_not_of("0123456789abcdef") != std::string::npos)
		return false;
	result.id = std::strtoull(id.c_str(), nullptr, 16);
	result.planned = mode == "on";
	return mode == "off" || mode == "on";
}

} // namespace

/* A plan without trials leaves them out. */
std::string read_trials(const char *path, const json &document, plan &result)
{
	result.trials = {};
	if (!has_value(document, "trials"))
		return "";
	const json &object = *member(document, "trials");
	if (!read_trial_mode(object, result.trials))
		return refuse(path, "is damaged at its trials");
	const json *phases = member(object, "phases"), *learned = member(object, "learned");
	if (!phases || !phases->is_array() || !learned || !learned->is_array())
		return refuse(path, "has no lists of tried phases and learned effects");
	for (const json &item : *phases)
		if (!read_tried_phase(item, result.policies))
			return refuse(path, "is damaged at its tried phases");
	for (const json &item : *learned) {
		learned_effect next;
		if (!read_learned(item, result.policies.size(), next))
			return refuse(path, "is damaged at learned effect " +
						std::to_string(result.trials.learned.size()));
		result.trials.learned.push_back(next);
	}
	return "";
}

} // namespace kadence
