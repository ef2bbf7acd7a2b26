/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The functions of the unit that have sites of the plan, for I/O or memory. Pass kadence_sites
 * chooses them while names and files are those of the source. Calls are redirected later, after
 * some inlining.
 */
#ifndef KADENCE_CALL_SITES_H
#define KADENCE_CALL_SITES_H

#include "base/gcc_compat.h"
#include "plan/plan.h"

namespace kadence
{

/* The chosen sites of a function; null if it has none. */
const std::vector<const call_site *> *chosen_sites(const_tree function);

/*
 * For link-time optimisation, which does not know the sites that were chosen when the units were
 * compiled: from now on, a function's sites are those of its name and file.
 */
void choose_sites_by_name(const plan *what);

/* Remembers the sites of a function. */
void choose_sites(const_tree function, const std::vector<const call_site *> &sites);

/* What the plan says of a call. */
struct planned_call {
	bool is_planned;
	uint32_t treatments; /* the union over all sites of the call */
};

/*
 * What the plan says of a call of this name and kind. The site may belong to the current function,
 * or to a function from which the call was inlined.
 */
planned_call plan_of(const gcall *call, const std::string &name, site_kind kind);

} // namespace kadence

#endif
