// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Reads a plan strictly. If a member is missing, has another type or is out of range, the whole
 * plan is refused: half a plan would announce phases that the kernel does not know.
 */
#include "plan/plan_read.h"
#include "plan/plan_json.h"
#include "plan/plan_layout.h"
#include "plan/plan_trials.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace kadence
{
namespace
{

const char schema_name[] = "kadence.plan";
const unsigned schema_version = 6;

/* The function of a marker or a site, as it was when it was profiled. */
template <typename verifiable> bool read_checksum(const json &object, verifiable &result)
{
	result.verified = has_value(object, "cfg_checksum");
	return !result.verified || read_digits(object, "cfg_checksum", result.cfg_checksum);
}

bool read_kind(const json &object, marker &result)
{
	std::string kind;

	if (!read_text(object, "kind", kind))
		return false;
	if (kind == "function_entry") {
		result.kind = marker_kind::function_entry;
		return true;
	}
	result.kind = marker_kind::loop_preheader;
	return kind == "loop_preheader" && read_unsigned(object, "loop", result.loop);
}

/* A missing member is 0. */
template <typename unsigned_type>
bool read_optional(const json &object, const char *key, unsigned_type &value)
{
	value = 0;
	return !has_value(object, key) || read_unsigned(object, key, value);
}

/* Without a checksum, a block number has no meaning. */
bool read_block(const json &object, marker &result)
{
	return read_optional(object, "block", result.block) && (result.verified || !result.block);
}

bool read_marker(const json &object, size_t policies, marker &result)
{
	result = {};
	if (!object.is_object() || !read_unsigned(object, "phase", result.phase) ||
	    result.phase >= policies || !read_kind(object, result) ||
	    !read_text(object, "function", result.function) || result.function.empty())
		return false;
	if (has_value(object, "file") && !read_text(object, "file", result.file))
		return false;
	return read_checksum(object, result) && read_block(object, result);
}

/* A missing member is false. */
bool read_flag(const json &object, const char *key, bool &value)
{
	const json *found = member(object, key);

	value = found && found->is_boolean() && found->get<bool>();
	return !has_value(object, key) || found->is_boolean();
}

bool read_policy(const json &object, policy &result)
{
	return object.is_object() && read_unsigned(object, "phase", result.phase) &&
	       read_unsigned(object, "quantum_ns", result.quantum_ns) &&
	       read_optional(object, "file_delay_ns", result.file_delay_ns) &&
	       (!has_value(object, "name") || read_text(object, "name", result.name)) &&
	       result.name.find('\0') == std::string::npos &&
	       read_flag(object, "memory_plain", result.memory_plain);
}

bool read_site(const json &object, call_site &result)
{
	result = {};
	if (!object.is_object() || !read_optional(object, "line", result.line))
		return false;
	if (has_value(object, "function") && !read_text(object, "function", result.function))
		return false;
	if (has_value(object, "file") && !read_text(object, "file", result.file))
		return false;
	return read_names(object, "calls", result.calls) && read_checksum(object, result) &&
	       !(result.function.empty() && result.file.empty());
}

bool read_mode(const json &object, io_paths &result)
{
	std::string mode;

	if (!read_text(object, "mode", mode))
		return false;
	result.planned = mode == "strict";
	return mode == "off" || mode == "strict";
}

bool read_streams(const json &object, io_paths &result)
{
	const json *found = member(object, "streams");

	if (!found || !found->is_boolean())
		return false;
	result.streams = found->get<bool>();
	return true;
}

/* As KADAPT_TREAT_* of libkadapt.h. */
const named_bit treatments[] = {
    {"populate", 0x1}, {"keep", 0x2}, {"huge", 0x4}, {"map-ahead", 0x8}};

/* As KADAPT_AHEAD_* of libkadapt.h. */
const named_bit places[] = {{"heap", 0x1}, {"stack", 0x2}, {"mappings", 0x4}};

bool read_memory_site(const json &object, call_site &result)
{
	if (!read_site(object, result) ||
	    !read_bits(object, "treatments", treatments, result.treatments))
		return false;
	result.kind = site_kind::memory;
	return true;
}

bool read_memory_use(const json &object, memory_use &result)
{
	std::string mode;

	if (!object.is_object() || !read_text(object, "mode", mode) ||
	    !read_bits(object, "ahead", places, result.ahead) ||
	    !read_unsigned(object, "keep_bytes", result.keep_bytes) ||
	    !read_unsigned(object, "fresh_least_bytes", result.fresh_least_bytes))
		return false;
	result.planned = mode == "default";
	return mode == "off" || mode == "default";
}

/* By the C library: a C++ stream may throw, and exceptions are off here. */
std::string read_file(const char *path, std::string &text)
{
	char buffer[65536];
	size_t length;
	std::FILE *stream = std::fopen(path, "rb");

	if (stream) {
		while ((length = std::fread(buffer, 1, sizeof(buffer), stream)) > 0)
			text.append(buffer, length);
		const bool failed = std::ferror(stream);
		const int reason = errno;
		std::fclose(stream);
		errno = reason;
		if (!failed)
			return "";
	}
	return std::string("cannot read plan ") + path + ": " + std::strerror(errno) +
	       "; give KADENCE_PLAN the absolute path of a plan";
}

std::string read_policies(const char *path, const json &document, plan &result)
{
	const json *list = member(document, "policies");
	if (!list || !list->is_array())
		return refuse(path, "has no list of policies");
	for (const json &item : *list) {
		policy next = {};
		if (!read_policy(item, next) || next.phase != result.policies.size())
			return refuse(path, "is damaged at policy " +
						std::to_string(result.policies.size()));
		result.policies.push_back(next);
	}
	return "";
}

std::string read_markers(const char *path, const json &document, plan &result)
{
	const json *list = member(document, "markers");
	if (!list || !list->is_array())
		return refuse(path, "has no list of markers");
	for (const json &item : *list) {
		marker next;
		if (!read_marker(item, result.policies.size(), next))
			return refuse(path, "is damaged at marker " +
						std::to_string(result.markers.size()));
		result.markers.push_back(next);
	}
	return "";
}

/* A plan without I/O paths leaves them out. */
std::string read_io(const char *path, const json &document, plan &result)
{
	result.io = {};
	if (!has_value(document, "io"))
		return "";
	const json &object = *member(document, "io");
	if (!object.is_object() || !read_mode(object, result.io) ||
	    !read_streams(object, result.io))
		return refuse(path, "is damaged at its I/O paths");
	const json *list = member(object, "sites");
	if (!list || !list->is_array())
		return refuse(path, "has no list of I/O sites");
	for (const json &item : *list) {
		call_site next;
		if (!read_site(item, next))
			return refuse(path, "is damaged at I/O site " +
						std::to_string(result.io.sites.size()));
		result.io.sites.push_back(next);
	}
	return "";
}

/* A plan without memory leaves it out. */
std::string read_memory(const char *path, const json &document, plan &result)
{
	result.memory = {};
	if (!has_value(document, "memory"))
		return "";
	const json &object = *member(document, "memory");
	if (!read_memory_use(object, result.memory))
		return refuse(path, "is damaged at its memory");
	const json *list = member(object, "sites");
	if (!list || !list->is_array())
		return refuse(path, "has no list of memory sites");
	for (const json &item : *list) {
		call_site next;
		if (!read_memory_site(item, next))
			return refuse(path, "is damaged at memory site " +
						std::to_string(result.memory.sites.size()));
		result.memory.sites.push_back(next);
	}
	return "";
}

std::string check_envelope(const char *path, const json &document)
{
	std::string schema;
	unsigned version;

	if (!document.is_object() || !read_text(document, "schema", schema))
		return refuse(path, "is not a kadence.plan artefact");
	if (schema != schema_name)
		return refuse(path, "is of schema " + schema + ", not kadence.plan");
	if (!read_unsigned(document, "version", version) || version != schema_version)
		return refuse(path, "is of a version of kadence.plan that this plugin does not "
				    "know (it knows " +
					std::to_string(schema_version) + ")");
	return "";
}

} // namespace

std::string read_plan(const char *path, plan &result)
{
	std::string text;
	std::string complaint = read_file(path, text);
	if (!complaint.empty())
		return complaint;
	const json document = json::parse(text, nullptr, false);
	if (document.is_discarded())
		return refuse(path, "is not JSON");
	complaint = check_envelope(path, document);
	if (complaint.empty())
		complaint = read_policies(path, document, result);
	if (complaint.empty())
		complaint = read_markers(path, document, result);
	if (complaint.empty())
		complaint = read_io(path, document, result);
	if (complaint.empty())
		complaint = read_memory(path, document, result);
	if (complaint.empty())
		complaint = read_trials(path, document, result);
	if (complaint.empty())
		complaint = read_layout(path, document, result);
	return complaint;
}

} // namespace kadence
