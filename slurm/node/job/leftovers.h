// SPDX-License-Identifier: GPL-2.0-or-later
#ifndef KADENCE_NODE_LEFTOVERS_H
#define KADENCE_NODE_LEFTOVERS_H

#include <filesystem>
#include <sys/types.h>
#include <vector>

namespace kadence
{

/*
 * Returns the processes that have KADENCE_JOB=FOLDER in their environment. Slurm ends all of a
 * job's processes before its epilog, so a process that is still there escaped Slurm.
 */
std::vector<pid_t> processes_of(const std::filesystem::path &folder);

/* Kills these processes and returns how many there were. */
size_t kill_leftovers(const std::filesystem::path &folder);

} // namespace kadence

#endif
