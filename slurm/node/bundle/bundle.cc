// SPDX-License-Identifier: GPL-2.0-or-later
#include "bundle/bundle.h"

#include <archive.h>
#include <archive_entry.h>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <memory>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "verify/digest.h"
#include "base/file.h"
#include "kadapt.h"
#include "base/refusal.h"

namespace kadence
{

namespace
{

const uint64_t largest_manifest = 1 << 20;
const uint64_t largest_signature = 4096;
const size_t piece_bytes = 65536;

using sink = std::function<void(std::string_view)>;

/* The archive's regular files one after another; anything else in it is refused. */
class archive_reader
{
      public:
	explicit archive_reader(int source) : archive_(archive_read_new(), &archive_read_free)
	{
		archive_read_support_filter_zstd(archive_.get());
		archive_read_support_format_tar(archive_.get());
		if (archive_read_open_fd(archive_.get(), source, piece_bytes) != ARCHIVE_OK)
			refuse_damaged();
	}

	/* False at the end. */
	bool next()
	{
		const int result = archive_read_next_header(archive_.get(), &entry_);

		if (result == ARCHIVE_EOF)
			return false;
		if (result != ARCHIVE_OK)
			refuse_damaged();
		if (archive_entry_filetype(entry_) != AE_IFREG || archive_entry_hardlink(entry_))
			throw refusal("the bundle holds something other than regular files");
		return true;
	}

	std::string name() const
	{
		const char *text = archive_entry_pathname(entry_);

		return text ? text : "";
	}

	/* Passes the entry's bytes to `take`; refuses more than `limit`. */
	void read(uint64_t limit, const sink &take)
	{
		char piece[piece_bytes];
		uint64_t total = 0;
		la_ssize_t got;

		while ((got = archive_read_data(archive_.get(), piece, sizeof(piece))) > 0) {
			total += static_cast<uint64_t>(got);
			if (total > limit)
				throw refusal("the bundle has a file that is too large");
			take({piece, static_cast<size_t>(got)});
		}
		if (got < 0)
			refuse_damaged();
	}

	std::string read_text(uint64_t limit)
	{
		std::string text;

		read(limit, [&](std::string_view piece) { text += piece; });
		return text;
	}

      private:
	[[noreturn]] void refuse_damaged() const
	{
		throw refusal("the bundle is damaged or cut short; copy or make it anew");
	}

	std::unique_ptr<struct archive, decltype(&archive_read_free)> archive_;
	struct archive_entry *entry_ = nullptr;
};

void require_machine(const manifest &bundle)
{
	utsname machine;

	uname(&machine);
	if (bundle.architecture != machine.machine)
		throw refusal("the bundle is for " + bundle.architecture.substr(0, 32) +
			      ", this node is " + machine.machine);
	if (bundle.interface > KADAPT_VERSION)
		throw refusal("the bundle needs version " + std::to_string(bundle.interface) +
			      " of kadapt's interface, this Kadence has " +
			      std::to_string(KADAPT_VERSION));
}

void require_room(const manifest &bundle, const site &rules)
{
	uint64_t total = 0;

	for (const bundled_file &file : bundle.files) {
		total += file.bytes;
		if (file.bytes > rules.largest_unpacked || total > rules.largest_unpacked)
			throw refusal("the bundle unpacks to more than largest_unpacked_mib = " +
				      std::to_string(rules.largest_unpacked >> 20) + " of " +
				      rules.file.string());
	}
}

/* Also makes the folders of `path`. The manifest has no name that leads out of the bundle. */
descriptor create_below(int folder, const std::string &path, bool executable)
{
	for (size_t slash = path.find('/'); slash != std::string::npos;
	     slash = path.find('/', slash + 1))
		if (mkdirat(folder, path.substr(0, slash).c_str(), 0755) && errno != EEXIST)
			refuse_errno("cannot unpack the bundle");
	descriptor file(openat(folder, path.c_str(),
			       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			       executable ? 0755 : 0644));
	if (file.get() < 0)
		refuse_errno("cannot unpack the bundle");
	return file;
}

void write_text(int folder, const std::string &name, const std::string &text)
{
	if (folder != nowhere)
		write_all(create_below(folder, name, false).get(), text, "the unpacked bundle");
}

void unpack_file(archive_reader &archive, const bundled_file &expected, int target)
{
	descriptor file;
	digest sum;
	uint64_t bytes = 0;

	if (target != nowhere)
		file = create_below(target, expected.path, expected.executable);
	archive.read(expected.bytes, [&](std::string_view piece) {
		bytes += piece.size();
		sum.add(piece);
		if (target != nowhere)
			write_all(file.get(), piece, "the unpacked bundle");
	});
	if (bytes != expected.bytes || sum.finish() != expected.sha256)
		throw refusal("file " + expected.path +
			      " of the bundle is not what the manifest says; make the bundle anew");
}

/* Reads the signature if there is one. Returns true if the reader is then at the first file. */
bool verify_signature(archive_reader &archive, const std::string &text, const site &rules,
		      const std::vector<public_key> &ring)
{
	const bool has_more = archive.next();

	if (has_more && archive.name() == "manifest.sig") {
		verify(ring, text, archive.read_text(largest_signature), "the bundle");
		return archive.next();
	}
	if (rules.signatures_required)
		throw refusal("the bundle is not signed, and " + rules.file.string() +
			      " has signatures = \"required\"; make it with a key (`kadence key`)");
	return has_more;
}

} // namespace

descriptor open_bundle(const std::string &path, const site &rules)
{
	/* O_NONBLOCK: do not wait for the writer of a FIFO. */
	descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
	struct stat status;

	if (file.get() < 0 || fstat(file.get(), &status))
		refuse_errno("cannot read the bundle " + path);
	if (!S_ISREG(status.st_mode))
		throw refusal("the bundle " + path + " is not a regular file");
	if (static_cast<uint64_t>(status.st_size) > rules.largest_bundle)
		throw refusal("the bundle " + path + " is larger than " +
			      "largest_bundle_mib = " + std::to_string(rules.largest_bundle >> 20) +
			      " of " + rules.file.string());
	return file;
}

std::string unpack(int source, int target, const site &rules, const std::vector<public_key> &ring)
{
	archive_reader archive(source);

	if (!archive.next() || archive.name() != "manifest.json")
		throw refusal("this is not a bundle: it does not begin with a manifest");
	const std::string text = archive.read_text(largest_manifest);
	/* Verify the signature before parsing the manifest. */
	bool has_more = verify_signature(archive, text, rules, ring);
	const manifest bundle = parse_manifest(text);
	require_machine(bundle);
	require_room(bundle, rules);
	write_text(target, "manifest.json", text);
	for (const bundled_file &expected : bundle.files) {
		if (!has_more || archive.name() != expected.path)
			throw refusal("the bundle lacks " + expected.path +
				      ", which its manifest names; make the bundle anew");
		unpack_file(archive, expected, target);
		has_more = archive.next();
	}
	if (has_more)
		throw refusal("the bundle has a file that its manifest does not name");
	return text;
}

} // namespace kadence
