// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The node's store of unpacked bundles. SPOOL/store/KEY/ has the signed manifest, which only root
 * can read, and in tree/ the files. Root owns the files; the user's group may read them. KEY names
 * the user and the bundle's bytes, so a node unpacks a bundle once, however many jobs and tasks
 * bring it. The user cannot change a verified file.
 *
 * Other users' jobs wait for the spool's lock, so bundles are copied, unpacked and removed without
 * it. A folder whose name begins with a dot is on its way in or out. The process that works on it
 * holds a lock on it (flock). A folder without a lock is left over from a crash.
 */
#ifndef KADENCE_NODE_STORE_H
#define KADENCE_NODE_STORE_H

#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/confine.h"
#include "base/file.h"
#include "site/site.h"

namespace kadence
{

/* Makes the missing folders of the spool. */
void make_spool(const site &rules);

struct kept_bundle {
	std::filesystem::path folder; /* the tree */
	std::string manifest;	      /* its text */
};

/* A bundle on its way into the store. Its destructor removes its folder unless it was published. */
class staged_bundle
{
      public:
	/* The caller holds the spool's lock. */
	staged_bundle(const site &rules, const confinement &limits);
	~staged_bundle();

	/*
	 * Opens `path` as `limits.whose` and copies it, so that the verified bytes are the unpacked
	 * ones. With `discard`, removes `path` once it is open.
	 */
	void copy(const std::filesystem::path &path, bool discard);

	/* Verifies and unpacks the bundle, as the user, unless the store has it. */
	void unpack();

	/*
	 * Puts the bundle into the store; the caller holds the spool's lock. Returns nothing if the
	 * store had the bundle, but removed it meanwhile. The caller then calls unpack() again,
	 * without the lock.
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

/* KEY of a bundle's tree/, and the manifest that belongs to it. */
std::string kept_name(const std::filesystem::path &folder);
std::string read_kept_manifest(const std::filesystem::path &folder);

/* A folder that was moved aside to be removed. Only the holder of its lock removes it. */
struct outcast {
	std::filesystem::path path; /* holds the folder */
	descriptor lock;
};

/* Moves a folder of the spool aside. The caller holds the spool's lock. */
outcast put_out(const site &rules, const std::filesystem::path &folder);

/*
 * Moves the least recently used bundles aside until the store is within its limit, but none of
 * `in_use` (names of folders). Also returns folders left over from crashes. The caller holds the
 * spool's lock.
 */
std::vector<outcast> trim_store(const site &rules, const std::set<std::string> &in_use);

/* Removes the folders. The caller does not hold the lock: a folder may hold very much. */
void remove_all(const std::vector<outcast> &folders);

} // namespace kadence

#endif
