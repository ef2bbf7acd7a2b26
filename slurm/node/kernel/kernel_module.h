// SPDX-License-Identifier: GPL-2.0-or-later
/* The driver in the running kernel, as a module or built in, and its device. */
#ifndef KADENCE_NODE_KERNEL_MODULE_H
#define KADENCE_NODE_KERNEL_MODULE_H

#include <cstdint>
#include <string>
#include <sys/types.h>

namespace kadence
{

/* The device's owner and mode. */
struct device_access {
	uid_t owner = 0;
	gid_t group = 0;
	mode_t mode = 0;
	bool exists = false;
};

bool driver_is_there();

/* Open descriptors, threads in a phase, and rings, but no units; 0 if the driver is built in: not
 * counted. */
uint64_t driver_users();

/* The longest quantum that a policy may ask for. */
uint64_t driver_limit_ns();
void set_driver_limit(uint64_t nanoseconds);

/* Loads a module from memory, so that nothing changes between check and use. */
void load_driver(const std::string &bytes, uint64_t limit_ns);

/* Waits until the driver is idle, at most until `deadline_ns` of monotonic_ns(); false if it is
 * still in use. */
bool await_idle_driver(int64_t deadline_ns);
bool unload_driver(int64_t deadline_ns);

device_access read_device();
void set_device(const device_access &access);

} // namespace kadence

#endif
