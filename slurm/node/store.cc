// SPDX-License-Identifier: GPL-2.0-or-later
#include "store.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "bundle.h"
#include "digest.h"
#include "file.h"
#include "key_ring.h"
#include "refusal.h"

namespace kadence
{

namespace fs = std::filesystem;

namespace
{

const size_t piece_bytes = 262144;
const uint64_t largest_manifest = 1 << 20;
const char tree_name[] = "tree";
const char manifest_name[] = "manifest.json";

/* A folder that goes with its owner, unless it has become something. */
class staging_folder
{
      public:
	staging_folder(const fs::path &parent, const person &whose)
	    : path_(parent / (".staging-" + std::to_string(getpid())))
	{
		fs::remove_all(path_);
		/* Nobody but root gets past the parent; the user owns what is inside. */
		if (mkdir(path_.c_str(), 0700) || mkdir(tree().c_str(), 0700) ||
		    chown(tree().c_str(), whose.user, whose.group))
			refuse_errno("cannot unpack the bundle in " + parent.string());
	}
	staging_folder(const staging_folder &) = delete;
	staging_folder &operator=(const staging_folder &) = delete;
	~staging_folder()
	{
		std::error_code ignored;

		fs::remove_all(path_, ignored);
	}

	fs::path tree() const
	{
		return path_ / tree_name;
	}
	fs::path copy() const
	{
		return path_ / "bundle";
	}
	fs::path manifest() const
	{
		return path_ / manifest_name;
	}

	/* It becomes `place`, for users to pass through. */
	void become(const fs::path &place) const
	{
		unlink(copy().c_str());
		if (chmod(path_.c_str(), 0711))
			refuse_errno("cannot keep the unpacked bundle");
		fs::rename(path_, place);
	}

      private:
	fs::path path_;
};

/* Digest of what was copied: the file may still change under the hand. */
std::string copy_bundle(int source, int target, uint64_t limit)
{
	std::string piece(piece_bytes, '\0');
	uint64_t total = 0;
	digest sum;
	ssize_t got;

	while ((got = read(source, piece.data(), piece.size())) > 0) {
		const std::string_view bytes(piece.data(), static_cast<size_t>(got));

		total += bytes.size();
		if (total > limit)
			throw refusal("the bundle grew while it was read");
		sum.add(bytes);
		write_all(target, bytes, "the copy of the bundle in the node's spool");
	}
	if (got < 0)
		refuse_errno("cannot read the bundle");
	return sum.finish();
}

std::string make_copy(const site &rules, const fs::path &path, bool discard,
		      const confinement &limits, int target)
{
	descriptor source;
	confinement wide = limits;

	wide.largest_file = rules.largest_bundle;
	return confine(
	    wide, [&] { return copy_bundle(source.get(), target, rules.largest_bundle); },
	    [&] {
		    source = open_bundle(path, rules);
		    if (discard)
			    unlink(path.c_str());
	    });
}

std::string unpack_confined(const site &rules, int copy, const fs::path &tree,
			    const confinement &limits)
{
	const std::vector<public_key> ring = read_key_ring(rules.key_ring);
	const descriptor folder(open(tree.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	confinement narrow = limits;

	narrow.largest_file = rules.largest_unpacked;
	narrow.root = tree.string();
	if (folder.get() < 0 || lseek(copy, 0, SEEK_SET) < 0)
		refuse_errno("cannot unpack the bundle in " + tree.string());
	return confine(narrow, [&] { return unpack(copy, folder.get(), rules, ring); });
}

/*
 * From here on the files are root's. The folder is the user's alone to enter: a guest's kernel sees
 * its owner and mode, and would see no access control list.
 */
void take_over(const fs::path &tree)
{
	for (const auto &entry : fs::recursive_directory_iterator(tree))
		if (lchown(entry.path().c_str(), 0, 0))
			refuse_errno("cannot take over the unpacked bundle");
	if (chmod(tree.c_str(), 0500))
		refuse_errno("cannot take over the unpacked bundle");
}

/*
 * After a loss of power a name must not stand for files that never got there. One by one: of the
 * whole file system's, a job's gigabytes may be waiting to be written.
 */
void make_durable(const fs::path &tree)
{
	std::vector<fs::path> paths = {tree};

	for (const auto &entry : fs::recursive_directory_iterator(tree))
		paths.push_back(entry.path());
	for (const fs::path &path : paths) {
		const descriptor file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));

		if (file.get() < 0 || fsync(file.get()))
			refuse_errno("cannot write the unpacked bundle to " + tree.string());
	}
}

uint64_t size_of(const fs::path &folder)
{
	uint64_t total = 0;
	struct stat status;

	for (const auto &entry : fs::recursive_directory_iterator(folder))
		if (!lstat(entry.path().c_str(), &status))
			total += static_cast<uint64_t>(status.st_blocks) * 512;
	return total;
}

void make_folder(const fs::path &path, mode_t mode)
{
	if (mkdir(path.c_str(), mode) && errno != EEXIST)
		refuse_errno("cannot make " + path.string());
}

} // namespace

void make_spool(const site &rules)
{
	std::error_code error;

	fs::create_directories(rules.spool.parent_path(), error);
	make_folder(rules.spool, 0711);
	make_folder(rules.jobs(), 0711);
	make_folder(rules.bundles(), 0711);
}

kept_bundle keep_bundle(const site &rules, const fs::path &path, bool discard,
			const confinement &limits)
{
	const staging_folder staging(rules.bundles(), limits.whose);
	const descriptor copy(
	    open(staging.copy().c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));

	if (copy.get() < 0)
		refuse_errno("cannot copy the bundle to " + rules.bundles().string());
	const std::string sum = make_copy(rules, path, discard, limits, copy.get());
	const fs::path place = rules.bundles() / (std::to_string(limits.whose.user) + "-" + sum);
	if (!fs::exists(place)) {
		write_atomically(staging.manifest(),
				 unpack_confined(rules, copy.get(), staging.tree(), limits), 0600);
		take_over(staging.tree());
		make_durable(staging.tree());
		staging.become(place);
	}
	/* The time of its last use, for trim_store(). */
	utimensat(AT_FDCWD, place.c_str(), nullptr, 0);
	return {place / tree_name, read_kept_manifest(place / tree_name)};
}

std::string kept_name(const fs::path &folder)
{
	return folder.parent_path().filename().string();
}

std::string read_kept_manifest(const fs::path &folder)
{
	return read_file(folder.parent_path() / manifest_name, largest_manifest);
}

void trim_store(const site &rules, const std::set<std::string> &in_use)
{
	std::vector<std::pair<fs::file_time_type, fs::path>> by_age;
	uint64_t total = 0;

	for (const auto &entry : fs::directory_iterator(rules.bundles())) {
		if (entry.path().filename().string().front() == '.') {
			/* A crash's: whoever is at work has the lock, and that is us. */
			fs::remove_all(entry.path());
			continue;
		}
		by_age.emplace_back(entry.last_write_time(), entry.path());
		total += size_of(entry.path());
	}
	std::sort(by_age.begin(), by_age.end());
	for (const auto &[time, path] : by_age) {
		if (total <= rules.largest_store)
			return;
		if (in_use.count(path.filename().string()))
			continue;
		total -= size_of(path);
		fs::remove_all(path);
	}
}

} // namespace kadence
