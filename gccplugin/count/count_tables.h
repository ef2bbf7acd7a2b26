/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a unit of profile mode carries for the runtime (profiler/runtime/tables.h): the names of its
 * blocks, and for each compiled function which counters it has and what follows from them.
 */
#ifndef KADENCE_COUNT_TABLES_H
#define KADENCE_COUNT_TABLES_H

#include "count/flow_graph.h"

#include <utility>

namespace kadence
{

/* How often a named block was entered in one compiled function: a sum of values. */
using contribution = std::pair<unsigned, sum>;

struct function_counts {
	unsigned counters;
	std::vector<sum> derived;
	std::vector<contribution> contributions;
};

/* The unit's next counter; functions take theirs in a row. */
unsigned first_free_counter();

/* A function has been compiled; its counters begin at first_free_counter(). */
void add_function_counts(function_counts counts);

/* The name of the array of the unit's counters, one for each thread. */
extern const char counters_name[];

/* Writes the array and the tables; call when the assembler's file is about to end. */
void emit_count_tables(bool fast);

} // namespace kadence

#endif
