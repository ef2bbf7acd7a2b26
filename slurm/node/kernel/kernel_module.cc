// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/kernel_module.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <iterator>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "base/refusal.h"

namespace kadence
{

namespace
{

const char name[] = "kadapt";
const char device[] = "/dev/kadapt";
const char in_sysfs[] = "/sys/module/kadapt";
const char users_file[] = "/sys/module/kadapt/refcnt";
const char holders_folder[] = "/sys/module/kadapt/holders";
const char limit_file[] = "/sys/module/kadapt/parameters/quantum_max_ns";
const uint64_t largest_number = 64;
const int64_t turn_ns = 10000000;
/* udev sets owner and mode of a new device, and would overwrite the job's. */
const char udev_is_busy[] = "/run/udev/queue";
const int64_t longest_udev_ns = 2000000000;
/* The driver's own limits, docs/kadapt.md. */
const uint64_t least_limit_ns = 100000;
const uint64_t largest_limit_ns = 10000000000;

void wait_turn()
{
	const timespec turn = {0, turn_ns};

	nanosleep(&turn, nullptr);
}

bool exists(const char *path)
{
	return access(path, F_OK) == 0;
}

uint64_t read_number(const char *path)
{
	return std::strtoull(read_file(path, largest_number).c_str(), nullptr, 10);
}

uint64_t possible_limit(uint64_t nanoseconds)
{
	return std::clamp(nanoseconds, least_limit_ns, largest_limit_ns);
}

/* Modules of units hold the driver, too. */
uint64_t units_of_driver()
{
	std::error_code none;
	const std::filesystem::directory_iterator holders(holders_folder, none);

	return static_cast<uint64_t>(std::distance(begin(holders), end(holders)));
}

void await_udev()
{
	const int64_t deadline_ns = monotonic_ns() + longest_udev_ns;

	while (exists(udev_is_busy) && monotonic_ns() < deadline_ns)
		wait_turn();
}

} // namespace

bool driver_is_there()
{
	return exists(in_sysfs);
}

uint64_t driver_users()
{
	return exists(users_file) ? read_number(users_file) - units_of_driver() : 0;
}

uint64_t driver_limit_ns()
{
	return read_number(limit_file);
}

void set_driver_limit(uint64_t nanoseconds)
{
	const descriptor file(open(limit_file, O_WRONLY | O_CLOEXEC));

	if (file.get() < 0)
		refuse_errno(std::string("cannot write ") + limit_file);
	write_all(file.get(), std::to_string(possible_limit(nanoseconds)), limit_file);
}

void load_driver(const std::string &bytes, uint64_t limit_ns)
{
	const std::string parameters = "quantum_max_ns=" + std::to_string(possible_limit(limit_ns));

	if (syscall(SYS_init_module, bytes.data(), bytes.size(), parameters.c_str()))
		refuse_errno("this node's kernel does not take the site's kadapt.ko");
	await_udev();
}

bool await_idle_driver(int64_t deadline_ns)
{
	while (driver_is_there() && driver_users() != 0) {
		if (monotonic_ns() > deadline_ns)
			return false;
		wait_turn();
	}
	return true;
}

bool unload_driver(int64_t deadline_ns)
{
	while (syscall(SYS_delete_module, name, O_NONBLOCK) && errno != ENOENT) {
		if ((errno != EWOULDBLOCK && errno != EBUSY) || monotonic_ns() > deadline_ns)
			return false;
		wait_turn();
	}
	await_udev();
	return true;
}

device_access read_device()
{
	struct stat status;

	if (stat(device, &status))
		return {};
	return {status.st_uid, status.st_gid, status.st_mode & 07777, true};
}

void set_device(const device_access &access)
{
	/* Nobody may open the device while its owner changes. */
	if (chmod(device, 0) || chown(device, access.owner, access.group) ||
	    chmod(device, access.mode))
		refuse_errno(std::string("cannot change the access to ") + device);
}

} // namespace kadence
