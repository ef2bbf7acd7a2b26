// SPDX-License-Identifier: GPL-2.0-or-later
#include "bundle/store.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "bundle/bundle.h"
#include "verify/digest.h"
#include "base/file.h"
#include "verify/key_ring.h"
#include "base/refusal.h"

namespace kadence
{

namespace fs = std::filesystem;

namespace
{

const size_t piece_bytes = 262144;
const uint64_t largest_manifest = 1 << 20;
const char tree_name[] = "tree";
const char manifest_name[] = "manifest.json";
const char bytes_name[] = "bytes"; /* the tree's size on the disk, in decimal */
const uint64_t largest_bytes_text = 32;

/* Opens and locks a folder, so that nobody takes it for one that is left over from a crash. */
descriptor lock_folder(const fs::path &path)
{
	descriptor folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));

	if (folder.get() >= 0 && flock(folder.get(), LOCK_EX | LOCK_NB))
		folder.close();
	return folder;
}

/*
 * Makes a new folder with a unique name, for root alone. The caller holds the spool's lock until it
 * has locked the folder.
 */
fs::path make_unique(const fs::path &parent, const std::string &beginning)
{
	std::string name = (parent / (beginning + "XXXXXX")).string();

	if (!mkdtemp(name.data()))
		refuse_errno("cannot make a folder in " + parent.string());
	return name;
}

/* Returns the digest of the copied bytes, because the file itself may still change. */
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
 * Makes root the owner of all files. The user gets access by the group: a guest's kernel sees
 * owner, group and mode, but no access control list.
 */
void take_over(const fs::path &tree, gid_t group)
{
	for (const auto &entry : fs::recursive_directory_iterator(tree))
		if (lchown(entry.path().c_str(), 0, 0))
			refuse_errno("cannot take over the unpacked bundle");
	if (chown(tree.c_str(), 0, group) || chmod(tree.c_str(), 0550))
		refuse_errno("cannot take over the unpacked bundle");
}

/*
 * After a loss of power, the store must not name files that never reached the disk. Files are
 * written one by one, because syncing the whole file system could write gigabytes of some job.
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

/* Returns the size after unpacking: nothing in the folder has changed since. */
uint64_t kept_size(const fs::path &place, const site &rules)
{
	try {
		return std::stoull(read_file(place / bytes_name, largest_bytes_text));
	} catch (const std::exception &) {
		return rules.largest_unpacked;
	}
}

/* Returns the bundles by age. `left` gets the folders that a crash left on their way in or out. */
std::vector<std::pair<fs::file_time_type, fs::path>> list_store(const site &rules,
								std::vector<outcast> &left)
{
	std::vector<std::pair<fs::file_time_type, fs::path>> by_age;

	for (const auto &entry : fs::directory_iterator(rules.bundles())) {
		if (entry.path().filename().string().front() != '.') {
			by_age.emplace_back(entry.last_write_time(), entry.path());
			continue;
		}
		descriptor lock = lock_folder(entry.path());
		if (lock.get() >= 0)
			left.push_back({entry.path(), std::move(lock)});
	}
	std::sort(by_age.begin(), by_age.end());
	return by_age;
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

/* A folder whose destructor removes it, unless become() has moved it into the store. */
class staged_bundle::folder
{
      public:
	folder(const fs::path &parent, const person &whose)
	    : path_(make_unique(parent, ".in-")), lock_(lock_folder(path_))
	{
		/* Only root can enter the folder; the user owns the tree inside. */
		if (lock_.get() < 0 || mkdir(tree().c_str(), 0700) ||
		    chown(tree().c_str(), whose.user, whose.group))
			refuse_errno("cannot unpack the bundle in " + parent.string());
	}
	folder(const folder &) = delete;
	folder &operator=(const folder &) = delete;
	~folder()
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

	/* Writes the manifest and the tree's size beside the tree. */
	void complete(const std::string &manifest) const
	{
		write_atomically(path_ / manifest_name, manifest, 0600);
		write_atomically(path_ / bytes_name, std::to_string(size_of(tree())), 0600);
		unlink(copy().c_str());
	}

	/* Moves the folder to `place`, and lets users pass through it. */
	void become(const fs::path &place) const
	{
		if (chmod(path_.c_str(), 0711))
			refuse_errno("cannot keep the unpacked bundle");
		fs::rename(path_, place);
	}

      private:
	fs::path path_;
	descriptor lock_;
};

staged_bundle::staged_bundle(const site &rules, const confinement &limits)
    : rules_(rules), limits_(limits),
      staging_(std::make_unique<folder>(rules.bundles(), limits.whose)),
      copy_(open(staging_->copy().c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600))
{
	if (copy_.get() < 0)
		refuse_errno("cannot copy the bundle to " + rules.bundles().string());
}

staged_bundle::~staged_bundle() = default;

void staged_bundle::copy(const fs::path &path, bool discard)
{
	place_ = rules_.bundles() / (std::to_string(limits_.whose.user) + "-" +
				     make_copy(rules_, path, discard, limits_, copy_.get()));
}

void staged_bundle::unpack()
{
	if (unpacked_ || fs::exists(place_))
		return;
	const std::string text = unpack_confined(rules_, copy_.get(), staging_->tree(), limits_);
	take_over(staging_->tree(), limits_.whose.group);
	staging_->complete(text);
	make_durable(staging_->tree());
	unpacked_ = true;
}

std::optional<kept_bundle> staged_bundle::publish()
{
	if (!fs::exists(place_)) {
		if (!unpacked_)
			return std::nullopt;
		staging_->become(place_);
	}
	/* Sets the time of last use, for trim_store(). */
	utimensat(AT_FDCWD, place_.c_str(), nullptr, 0);
	return kept_bundle{place_ / tree_name, read_kept_manifest(place_ / tree_name)};
}

std::string kept_name(const fs::path &folder)
{
	return folder.parent_path().filename().string();
}

std::string read_kept_manifest(const fs::path &folder)
{
	return read_file(folder.parent_path() / manifest_name, largest_manifest);
}

outcast put_out(const site &rules, const fs::path &folder)
{
	outcast out = {make_unique(rules.bundles(), ".out-"), descriptor()};

	out.lock = lock_folder(out.path);
	/* Lets users pass through: the notes of a job's steps are still gathered as the user. */
	if (out.lock.get() < 0 || chmod(out.path.c_str(), 0711))
		refuse_errno("cannot change " + out.path.string());
	fs::rename(folder, out.path / folder.filename());
	return out;
}

std::vector<outcast> trim_store(const site &rules, const std::set<std::string> &in_use)
{
	std::vector<outcast> out;
	const auto by_age = list_store(rules, out);
	uint64_t total = 0;

	for (const auto &[time, path] : by_age)
		total += kept_size(path, rules);
	for (const auto &[time, path] : by_age) {
		if (total <= rules.largest_store)
			break;
		if (in_use.count(path.filename().string()))
			continue;
		total -= kept_size(path, rules);
		out.push_back(put_out(rules, path));
	}
	return out;
}

void remove_all(const std::vector<outcast> &folders)
{
	std::error_code ignored;

	for (const outcast &folder : folders)
		fs::remove_all(folder.path, ignored);
}

} // namespace kadence
