// SPDX-License-Identifier: GPL-2.0-or-later
/* Files and descriptors. */
#ifndef KADENCE_NODE_FILE_H
#define KADENCE_NODE_FILE_H

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace kadence
{

/* An open descriptor, closed with its owner; -1 is none. */
class descriptor
{
      public:
	descriptor() = default;
	explicit descriptor(int number) : number_(number)
	{
	}
	descriptor(descriptor &&other) noexcept;
	descriptor &operator=(descriptor &&other) noexcept;
	~descriptor();

	int get() const
	{
		return number_;
	}
	void close();

      private:
	int number_ = -1;
};

/* The whole file, at most `limit` bytes, or a refusal. */
std::string read_file(const std::filesystem::path &path, uint64_t limit);
std::string read_all(int number, uint64_t limit, const std::string &name);

/* All bytes or a refusal that names the file. */
void write_all(int number, std::string_view bytes, const std::string &name);

/* There whole or not at all, also after a crash of the machine. */
void write_atomically(const std::filesystem::path &path, std::string_view bytes, mode_t mode);

/* An exclusive flock(2) on `path`, waited for until `deadline_ns` of monotonic_ns(). */
descriptor lock_file(const std::filesystem::path &path, int64_t deadline_ns);

/* Lets one user read the file, and nobody else but root: an access control list. */
void grant_read(const std::filesystem::path &path, uid_t user);

/* Nanoseconds of CLOCK_MONOTONIC. */
int64_t monotonic_ns();

/* This boot of the node, a random number of the kernel's. */
std::string boot_id();

} // namespace kadence

#endif
