/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which functions of the unit have planned I/O. Chosen where the plan's names and files are those
 * of the source (pass kadence_io), asked for where calls are redirected, after some inlining.
 */
#ifndef KADENCE_IO_SITES_H
#define KADENCE_IO_SITES_H

#include "gcc_compat.h"
#include "plan.h"

namespace kadence
{

/* The sites that were chosen for a function; null for none. */
const std::vector<const io_site *> *chosen_sites(const_tree function);

/* Remembers the sites of a function. */
void choose_sites(const_tree function, const std::vector<const io_site *> &sites);

/*
 * Whether `call`, whose name is `name`, is to be redirected: a site of the current function, or
 * of one that the call was inlined from, names it.
 */
bool is_planned(const gcall *call, const std::string &name);

} // namespace kadence

#endif
