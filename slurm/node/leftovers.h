// SPDX-License-Identifier: GPL-2.0-or-later
#ifndef KADENCE_NODE_LEFTOVERS_H
#define KADENCE_NODE_LEFTOVERS_H

#include <filesystem>
#include <sys/types.h>
#include <vector>

namespace kadence
{

/*
 * Processes that carry KADENCE_JOB=FOLDER in their environment. Slurm
 * has ended all of a job's processes before its epilog; who is still there got away.
 */
std::vector<pid_t> processes_of(const std::filesystem::path &folder);

/* Kills them; the number of those that there were. */
size_t kill_leftovers(const std::filesystem::path &folder);

} // namespace kadence

#endif
