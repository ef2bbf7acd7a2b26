// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/verdict.h"

#include <filesystem>

namespace kadence
{

namespace
{

using nlohmann::json;

const size_t longest = 400;

/* Names and sentences may have come from a user, and must not look like other lines of a log. */
std::string visible(const std::string &text)
{
	std::string shown;

	for (const char character : text.substr(0, longest)) {
		const unsigned char byte = static_cast<unsigned char>(character);

		shown += byte < ' ' || byte == 0x7f ? '?' : character;
	}
	return shown;
}

} // namespace

step_counts count_steps(const json &record)
{
	step_counts counts;

	if (!record.contains("steps") || !record.at("steps").is_array())
		return counts;
	for (const json &step : record.at("steps")) {
		const json program = step.is_object() ? step.value("program", json()) : json();

		counts.all++;
		counts.adapted += program == "adapted";
	}
	return counts;
}

std::string decision_of(const job_state &state)
{
	std::string text = "target " + state.target + ", bundle " +
			   std::filesystem::path(state.bundle).filename().string();

	if (!state.refused.empty())
		text += ", refused: " + state.refused;
	else if (!state.notice.empty())
		text += ", " + state.notice;
	return visible(text);
}

std::string verdict_of(const job_state &state, const json &record)
{
	const step_counts counts = count_steps(record);

	return visible(std::to_string(counts.adapted) + " of " + std::to_string(counts.all) +
		       " tasks adapted, " + decision_of(state));
}

} // namespace kadence
