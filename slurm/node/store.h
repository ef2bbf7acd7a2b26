// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The node's store of unpacked bundles: SPOOL/store/KEY/ has the manifest, as it was signed, for
 * root alone, and in tree/ the files, which are root's and which the user's group may read. KEY
 * names that user and the bundle's bytes, so a bundle is unpacked once on a node, however many jobs
 * and tasks bring it. What was verified stays what it was: the user can change nothing in it.
 *
 * Bundles are copied, unpacked and removed without the spool's lock, for which other users' jobs
 * wait. A folder whose name begins with a dot is on its way in or out; who works on it holds a lock
 * on it (flock), and one without a lock is what a crash has left.
 */
#ifndef KADENCE_NODE_STORE_H
#define KADENCE_NODE_STORE_H

#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "confine.h"
#include "file.h"
#include "site.h"

namespace kadence
{

/* Makes the folders of the spool where they are missing. */
void make_spool(const site &rules);

struct kept_bundle {
	std::filesystem::path folder; /* the tree */
	std::string manifest;	      /* its text */
};

/* A bundle on its way into the store. What it holds there goes with it, unless it was published. */
class staged_bundle
{
      public:
	/* The caller holds the spool's lock. */
	staged_bundle(const site &rules, const confinement &limits);
	~staged_bundle();

	/*
	 * `path` is opened as `limits.whose` and copied first, so that what was verified is what is
	 * unpacked; with `discard` it is removed then.
	 */
	void copy(const std::filesystem::path &path, bool discard);

	/* Verified and unpacked by the user, unless the store has it. */
	void unpack();

	/*
	 * In the store from here on, the caller holding the spool's lock. Nothing if the store had
	 * it and has lost it meanwhile: then unpack() is to be called again, without the lock.
	 */
	std::optional<kept_bundle> publish();

      private:
	class folder;

	const site &rules_;
	confinement limits_;
	std::unique_ptr<folder> staging_;
	descriptor copy_;
	std::filesystem::path place_;
	bool unpacked_ = false;
};

/* Of a tree: KEY, and the manifest that belongs to it. */
std::string kept_name(const std::filesystem::path &folder);
std::string read_kept_manifest(const std::filesystem::path &folder);

/* A folder that was moved to where it is nothing any more. Nobody else removes it. */
struct outcast {
	std::filesystem::path path; /* holds the folder */
	descriptor lock;
};

/* Puts a folder of the spool out. The caller holds the spool's lock. */
outcast put_out(const site &rules, const std::filesystem::path &folder);

/*
 * Puts out the least recently used bundles until the store is within its limit, but none of
 * `in_use` (names of folders); and what crashes have left. The caller holds the spool's lock.
 */
std::vector<outcast> trim_store(const site &rules, const std::set<std::string> &in_use);

/* Without the lock: a folder may hold very much. */
void remove_all(const std::vector<outcast> &folders);

} // namespace kadence

#endif
