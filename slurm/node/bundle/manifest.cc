// SPDX-License-Identifier: GPL-2.0-or-later
#include "bundle/manifest.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "base/refusal.h"

namespace kadence
{

namespace
{

using nlohmann::json;

const char schema_name[] = "kadence.bundle";
const int schema_version = 2;
const size_t most_files = 1024;
const long most_folders = 4096; /* on all paths together: a folder costs as much as a file */
const size_t longest_path = 255;
const size_t longest_unit = 47;
const size_t most_units = 32;
const char letters[] = "abcdefghijklmnopqrstuvwxyz";
const char letters_and_digits[] = "abcdefghijklmnopqrstuvwxyz0123456789_";

[[noreturn]] void refuse(const std::string &what)
{
	throw refusal("the bundle's manifest " + what + "; make the bundle anew");
}

/* The node's tool will open these paths below the bundle's folder. */
bool stays_inside(const std::string &path)
{
	if (path.empty() || path.size() > longest_path || path.front() == '/')
		return false;
	for (const std::filesystem::path &part : std::filesystem::path(path))
		if (part.empty() || part == "." || part == "..")
			return false;
	return std::all_of(path.begin(), path.end(),
			   [](char letter) { return letter > ' ' && letter != 127; });
}

bool is_digest(const std::string &text)
{
	return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

bundled_file read_bundled_file(const json &entry)
{
	bundled_file file;

	file.path = entry.at("path").get<std::string>();
	file.bytes = entry.at("bytes").get<uint64_t>();
	file.sha256 = entry.at("sha256").get<std::string>();
	file.executable = entry.at("executable").get<bool>();
	if (!entry.at("bytes").is_number_unsigned() || !is_digest(file.sha256))
		refuse("has a file without size or checksum");
	if (!stays_inside(file.path))
		refuse("has a file name that leads out of the bundle");
	return file;
}

void read_files(const json &document, manifest &result)
{
	std::set<std::string> seen = {"manifest.json", "manifest.sig"};
	long folders = 0;

	if (document.at("files").size() > most_files)
		refuse("names more than " + std::to_string(most_files) + " files");
	for (const json &entry : document.at("files")) {
		result.files.push_back(read_bundled_file(entry));
		if (!seen.insert(result.files.back().path).second)
			refuse("names a file twice");
		const std::string &path = result.files.back().path;
		folders += std::count(path.begin(), path.end(), '/');
	}
	if (folders > most_folders)
		refuse("has more than " + std::to_string(most_folders) + " folders on its paths");
}

void require_file(const manifest &result, const std::string &path)
{
	if (std::none_of(result.files.begin(), result.files.end(),
			 [&](const bundled_file &file) { return file.path == path; }))
		refuse("refers to a file that the bundle does not have");
}

void read_programs(const json &document, manifest &result)
{
	for (const json &entry : document.at("programs")) {
		bundled_program program;

		program.file = entry.at("file").get<std::string>();
		program.name = entry.at("name").get<std::string>();
		program.build_id = entry.at("build_id").get<std::string>();
		program.replaces = entry.at("replaces").get<std::vector<std::string>>();
		require_file(result, program.file);
		result.programs.push_back(program);
	}
}

void read_units(const json &document, manifest &result)
{
	for (const json &entry : document.at("units")) {
		const bundled_unit unit = {entry.at("name").get<std::string>(),
					   entry.at("phases").get<std::vector<unsigned int>>(),
					   entry.at("sha256").get<std::string>()};

		if (!is_unit_name(unit.name) || !is_digest(unit.sha256))
			refuse("has a unit whose name or checksum is none");
		result.units.push_back(unit);
	}
	if (result.units.size() > most_units)
		refuse("names more than " + std::to_string(most_units) + " units");
}

void read_targets(const json &document, manifest &result)
{
	for (const auto &[target, kernel] : document.at("kernels").items()) {
		result.kernels[target] = kernel.at("file").get<std::string>();
		require_file(result, result.kernels[target]);
	}
	for (const auto &[target, wanted] : document.at("configurations").items())
		result.configurations[target] = wanted.at("id").get<std::string>();
	for (const auto &[target, verdict] : document.at("measured").items()) {
		measurement &measured = result.measured[target];

		measured.outcome = verdict.at("outcome").get<std::string>();
		if (verdict.at("ratio").is_number())
			measured.ratio = verdict.at("ratio").get<double>();
	}
}

manifest read_manifest(const json &document)
{
	manifest result;

	if (document.at("schema") != schema_name)
		refuse("is not of schema " + std::string(schema_name));
	if (document.at("version") != schema_version)
		refuse("has a version of " + std::string(schema_name) + " that is unknown here");
	result.name = document.at("name").get<std::string>();
	if (document.at("build_id").is_string())
		result.build_id = document.at("build_id").get<std::string>();
	result.architecture = document.at("architecture").get<std::string>();
	result.interface = document.at("interface").get<uint64_t>();
	read_files(document, result);
	read_programs(document, result);
	read_units(document, result);
	read_targets(document, result);
	return result;
}

} // namespace

bool is_unit_name(const std::string &name)
{
	return !name.empty() && name.size() <= longest_unit && name.find_first_of(letters) == 0 &&
	       name.find_first_not_of(letters_and_digits) == std::string::npos;
}

std::string units_variable(const manifest &bundle)
{
	std::string value;

	for (const bundled_unit &unit : bundle.units) {
		char separator = ':';

		value += (value.empty() ? "" : " ") + unit.name;
		for (const unsigned int phase : unit.phases) {
			value += separator + std::to_string(phase);
			separator = ',';
		}
	}
	return value;
}

manifest parse_manifest(const std::string &text)
{
	try {
		return read_manifest(json::parse(text));
	} catch (const json::exception &) {
		/* The exception's text quotes the bundle, so it is not passed on. */
		refuse("is damaged");
	}
}

} // namespace kadence
