/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tables of a unit of profile mode, for the runtime (profiler/runtime/tables.h): the names of
 * its blocks, and for each compiled function its counters and the counts that follow from them.
 */
#ifndef KADENCE_COUNT_TABLES_H
#define KADENCE_COUNT_TABLES_H

#include "count/flow_graph.h"

#include <utility>

namespace kadence
{

/* A sum of values: how often a named block was entered in one compiled function. */
using contribution = std::pair<unsigned, sum>;

struct function_counts {
	unsigned counters;
	std::vector<sum> derived;
	std::vector<contribution> contributions;
};

/* The unit's next counter. The counters of a function are consecutive. */
unsigned first_free_counter();

/* Adds a compiled function. Its counters begin at first_free_counter(). */
void add_function_counts(function_counts counts);

/* The name of the array of the unit's counters, one for each thread. */
extern const char counters_name[];

/* Writes the array and the tables. Call it before the assembler's file ends. */
void emit_count_tables(bool fast);

} // namespace kadence

#endif
