// SPDX-License-Identifier: GPL-2.0-or-later
#ifndef KADENCE_NODE_BUILD_ID_H
#define KADENCE_NODE_BUILD_ID_H

#include <filesystem>
#include <string>

namespace kadence
{

/* Returns the linker's build-id of a 64-bit ELF file in hex digits; empty if it has none. */
std::string build_id_of(const std::filesystem::path &program);

} // namespace kadence

#endif
