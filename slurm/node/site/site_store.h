// SPDX-License-Identifier: GPL-2.0-or-later
/* The site's signed kernels and modules: a node accepts no others. */
#ifndef KADENCE_NODE_SITE_STORE_H
#define KADENCE_NODE_SITE_STORE_H

#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "site/site.h"

namespace kadence
{

/* One folder of the site's store, whose manifest the site's key has signed. */
class site_folder
{
      public:
	/* Verifies the manifest of STORE/`name`, or refuses. */
	site_folder(const site &rules, const std::filesystem::path &name);

	/* Returns a file's bytes; refuses a file that is not the one that was signed. */
	std::string read(const std::string &file) const;
	bool has(const std::string &file) const;

	/* Whether the manifest has `key` with the value true. */
	bool says(const std::string &key) const;

	/* The manifest's text under `key`, or empty. */
	std::string text(const std::string &key) const;

      private:
	struct signed_file {
		uint64_t bytes = 0;
		std::string sha256;
	};

	std::filesystem::path path_;
	std::map<std::string, signed_file> files_;
	std::set<std::string> true_keys_;
	std::map<std::string, std::string> texts_;
};

} // namespace kadence

#endif
