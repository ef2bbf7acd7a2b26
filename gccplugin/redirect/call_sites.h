/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which functions of the unit have sites of the plan, of I/O or memory. Chosen where the plan's
 * names and files are those of the source (pass kadence_sites), asked for where calls are
 * redirected, after some inlining.
 */
#ifndef KADENCE_CALL_SITES_H
#define KADENCE_CALL_SITES_H

#include "base/gcc_compat.h"
#include "plan/plan.h"

namespace kadence
{

/* The sites that were chosen for a function; null for none. */
const std::vector<const call_site *> *chosen_sites(const_tree function);

/*
 * For link-time optimisation, which does not know what was chosen when the units were compiled:
 * from now on the sites of a function are those of its name and file.
 */
void choose_sites_by_name(const plan *what);

/* Remembers the sites of a function. */
void choose_sites(const_tree function, const std::vector<const call_site *> &sites);

/* What the plan says of a call. */
struct planned_call {
	bool is_planned;
	uint32_t treatments; /* of all sites that name it */
};

/*
 * For a call of this name and kind: a site of the current function, or of one that the call was
 * inlined from, plans it.
 */
planned_call plan_of(const gcall *call, const std::string &name, site_kind kind);

} // namespace kadence

#endif
