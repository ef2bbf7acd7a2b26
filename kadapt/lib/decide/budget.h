/* SPDX-License-Identifier: MIT */
/*
 * What trying may cost. A process has one budget for the trials of all its phases: a
 * share of the time for which the process has run.
 */
#ifndef LIBKADAPT_BUDGET_H
#define LIBKADAPT_BUDGET_H

struct kadapt_budget {
	double share;	   /* of the run's time; 0.01 is 1 % */
	double elapsed_ns; /* since trials began; the caller sets it */
	double spent_ns;   /* by what is known now */
};

/* Whether a part of the budget, from 0 to 1, has room for `risk_ns`. */
static inline int kadapt_budget_allows(const struct kadapt_budget *budget, double part,
				       double risk_ns)
{
	return budget->spent_ns + risk_ns <= part * budget->share * budget->elapsed_ns;
}

#endif
