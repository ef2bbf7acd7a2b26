// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <memory>
#include <sys/acl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "base/refusal.h"

namespace kadence
{

namespace
{

const int64_t lock_turn_ns = 2000000;

struct acl_deleter {
	void operator()(void *list) const
	{
		acl_free(list);
	}
};

} // namespace

void refuse_errno(const std::string &what)
{
	throw refusal(what + ": " + std::strerror(errno));
}

descriptor::descriptor(descriptor &&other) noexcept : number_(std::exchange(other.number_, -1))
{
}

descriptor &descriptor::operator=(descriptor &&other) noexcept
{
	std::swap(number_, other.number_);
	return *this;
}

descriptor::~descriptor()
{
	close();
}

void descriptor::close()
{
	if (number_ >= 0)
		::close(std::exchange(number_, -1));
}

std::string read_all(int number, uint64_t limit, const std::string &name)
{
	std::string bytes;
	char piece[65536];
	ssize_t got;

	while ((got = read(number, piece, sizeof(piece))) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			refuse_errno("cannot read " + name);
		if (bytes.size() + static_cast<uint64_t>(got) > limit)
			throw refusal(name + " is larger than " + std::to_string(limit) + " bytes");
		bytes.append(piece, static_cast<size_t>(got));
	}
	return bytes;
}

std::string read_file(const std::filesystem::path &path, uint64_t limit)
{
	const descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));

	if (file.get() < 0)
		refuse_errno("cannot read " + path.string());
	return read_all(file.get(), limit, path.string());
}

void write_all(int number, std::string_view bytes, const std::string &name)
{
	while (!bytes.empty()) {
		const ssize_t done = write(number, bytes.data(), bytes.size());

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			refuse_errno("cannot write " + name);
		bytes.remove_prefix(static_cast<size_t>(done));
	}
}

void write_atomically(const std::filesystem::path &path, std::string_view bytes, mode_t mode)
{
	const std::filesystem::path fresh = path.string() + ".new";

	unlink(fresh.c_str());
	descriptor file(open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
	if (file.get() < 0)
		refuse_errno("cannot write " + path.string());
	try {
		write_all(file.get(), bytes, path.string());
		if (fchmod(file.get(), mode) || fdatasync(file.get()) ||
		    rename(fresh.c_str(), path.c_str()))
			refuse_errno("cannot write " + path.string());
	} catch (...) {
		unlink(fresh.c_str());
		throw;
	}
}

descriptor lock_file(const std::filesystem::path &path, int64_t deadline_ns)
{
	descriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
	const timespec turn = {0, lock_turn_ns};

	if (file.get() < 0)
		refuse_errno("cannot open " + path.string());
	while (flock(file.get(), LOCK_EX | LOCK_NB)) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			refuse_errno("cannot lock " + path.string());
		if (monotonic_ns() > deadline_ns)
			throw refusal("another job kept " + path.string() + " locked for too long");
		nanosleep(&turn, nullptr);
	}
	return file;
}

void grant_read(const std::filesystem::path &path, uid_t user)
{
	const std::string text = "u::rw-,u:" + std::to_string(user) + ":r--,g::---,m::r--,o::---";
	const std::unique_ptr<void, acl_deleter> list(acl_from_text(text.c_str()));

	if (!list || acl_set_file(path.c_str(), ACL_TYPE_ACCESS, static_cast<acl_t>(list.get())))
		refuse_errno("cannot set the access control list of " + path.string() +
			     ", which its file system must support");
}

int64_t monotonic_ns()
{
	timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

std::string boot_id()
{
	std::string text = read_file("/proc/sys/kernel/random/boot_id", 4096);

	while (!text.empty() && text.back() == '\n')
		text.pop_back();
	return text;
}

} // namespace kadence
