// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The node's store of unpacked bundles: SPOOL/store/KEY/ has the manifest, as it was signed, for
 * root alone, and in tree/ the files for one user alone. KEY names that user and the bundle's
 * bytes, so a bundle is unpacked once on a node, however many jobs and tasks bring it. A user who
 * changes the tree afterwards changes what the user's own jobs run as that user, which needs no
 * bundle; nothing in it is ever read or run by root.
 */
#ifndef KADENCE_NODE_STORE_H
#define KADENCE_NODE_STORE_H

#include <filesystem>
#include <set>
#include <string>

#include "confine.h"
#include "site.h"

namespace kadence
{

/* Makes the folders of the spool where they are missing. */
void make_spool(const site &rules);

struct kept_bundle {
	std::filesystem::path folder; /* the tree */
	std::string manifest;	      /* its text */
};

/*
 * The bundle's files, verified and unpacked by `limits.whose` if it is not there
 * yet. `path` is opened as that user and copied first, so that what was verified is what is
 * unpacked; with `discard` it is removed then. The caller holds the spool's lock.
 */
kept_bundle keep_bundle(const site &rules, const std::filesystem::path &path, bool discard,
			const confinement &limits);

/* Of a tree: KEY, and the manifest that belongs to it. */
std::string kept_name(const std::filesystem::path &folder);
std::string read_kept_manifest(const std::filesystem::path &folder);

/*
 * Removes the least recently used bundles until the store is within its limit, but none of
 * `in_use` (names of folders). The caller holds the spool's lock.
 */
void trim_store(const site &rules, const std::set<std::string> &in_use);

} // namespace kadence

#endif
