/* SPDX-License-Identifier: GPL-2.0-only */
/* The installed units, by name and by number. */
#ifndef _KADAPT_UNITS_H
#define _KADAPT_UNITS_H

#include <linux/errno.h>
#include <linux/types.h>

struct kadapt_query;

#ifdef KADAPT_WITH_UNITS

void kadapt_units_query(struct kadapt_query *query);
/*
 * The number of the unit of this name, held for a phase; or -ENODEV if no such
 * unit is installed.
 */
int kadapt_units_hold(const char *name);

int kadapt_units_init(void);
void kadapt_units_exit(void);

#else

static inline void kadapt_units_query(struct kadapt_query *query)
{
}

static inline int kadapt_units_hold(const char *name)
{
	return -EOPNOTSUPP;
}

static inline int kadapt_units_init(void)
{
	return 0;
}

static inline void kadapt_units_exit(void)
{
}

#endif

#endif /* _KADAPT_UNITS_H */
