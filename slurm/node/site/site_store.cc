// SPDX-License-Identifier: GPL-2.0-or-later
#include "site/site_store.h"

#include <nlohmann/json.hpp>

#include "verify/digest.h"
#include "base/file.h"
#include "verify/key_ring.h"
#include "base/refusal.h"

namespace kadence
{

namespace fs = std::filesystem;

namespace
{

using nlohmann::json;

const char schema_name[] = "kadence.site";
const int schema_version = 1;
const uint64_t largest_manifest = 1 << 20;
const uint64_t largest_signature = 4096;
const uint64_t largest_file = UINT64_C(512) << 20;

json parse_signed(const site &rules, const fs::path &folder)
{
	const std::string text = read_file(folder / "manifest.json", largest_manifest);
	const std::string line = read_file(folder / "manifest.sig", largest_signature);

	verify({read_public_key(rules.site_key)}, text, line, folder.string());
	json document = json::parse(text);
	if (document.at("schema") != schema_name || document.at("version") != schema_version)
		throw refusal(folder.string() + " was made by another version of Kadence; make it "
						"anew with `kadence site build`");
	return document;
}

} // namespace

site_folder::site_folder(const site &rules, const fs::path &name) : path_(rules.store / name)
{
	if (!fs::is_directory(path_))
		throw refusal("the site's store has no " + path_.string() +
			      "; the administrator makes it with `kadence site build`");
	try {
		const json document = parse_signed(rules, path_);

		/* The name is signed, too, so no other signed folder can replace this one. */
		if (document.at("folder") != name.string())
			throw refusal(path_.string() + " was signed under another name");
		for (const json &one : document.at("files"))
			files_[one.at("path").get<std::string>()] = {
			    one.at("bytes").get<uint64_t>(), one.at("sha256").get<std::string>()};
		for (const auto &[key, value] : document.items())
			if (value == true)
				true_keys_.insert(key);
			else if (value.is_string())
				texts_[key] = value.get<std::string>();
	} catch (const json::exception &) {
		throw refusal("the manifest of " + path_.string() + " is damaged");
	}
}

bool site_folder::says(const std::string &key) const
{
	return true_keys_.count(key) != 0;
}

std::string site_folder::text(const std::string &key) const
{
	const auto found = texts_.find(key);

	return found == texts_.end() ? std::string() : found->second;
}

bool site_folder::has(const std::string &file) const
{
	return files_.count(file) != 0;
}

std::string site_folder::read(const std::string &file) const
{
	const auto found = files_.find(file);

	if (found == files_.end())
		throw refusal(path_.string() + " has no " + file);
	std::string bytes = read_file(path_ / file, largest_file);
	if (bytes.size() != found->second.bytes || sha256(bytes) != found->second.sha256)
		throw refusal((path_ / file).string() + " was changed after it was signed");
	return bytes;
}

} // namespace kadence
