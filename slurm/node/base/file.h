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

/* Returns the whole file. Refuses one that cannot be read or is larger than `limit` bytes. */
std::string read_file(const std::filesystem::path &path, uint64_t limit);
std::string read_all(int number, uint64_t limit, const std::string &name);

/* Writes all bytes, or throws a refusal that names the file. */
void write_all(int number, std::string_view bytes, const std::string &name);

/* The file is complete or absent, also after a crash of the machine. */
void write_atomically(const std::filesystem::path &path, std::string_view bytes, mode_t mode);

/* Takes an exclusive flock(2) on `path`; waits until `deadline_ns` of monotonic_ns(). */
descriptor lock_file(const std::filesystem::path &path, int64_t deadline_ns);

/* Lets only this user and root read the file, by an access control list. */
void grant_read(const std::filesystem::path &path, uid_t user);

/* Nanoseconds of CLOCK_MONOTONIC. */
int64_t monotonic_ns();

/* The kernel's random number for this boot of the node. */
std::string boot_id();

} // namespace kadence

#endif
