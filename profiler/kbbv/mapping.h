/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory that a system call gave the program. mappings.c tracks its place, mapping.c records it. */

#ifndef MAPPING_H
#define MAPPING_H

#include "kbbv.h"

struct touches {
	ULong pages;
	ULong runs;
	ULong upward; /* pages of runs that begin where touched pages end */
	ULong downward;
	ULong released;
};

struct mapping {
	UInt id;
	UInt areas;
	Bool of_file;
	struct birth birth;
	ULong bytes;
	struct touches touches; /* since they were last recorded */
	Bool changed;
};

struct mapping *mapping_new(UInt thread, ULong bytes, const struct birth *birth);
/* In a forked child, whose profile has no mappings yet. */
void mapping_forget_all(void);
void mapping_tell_again(UInt thread, struct mapping *mapping);
void mapping_note_change(struct mapping *mapping);
void mapping_tell_size(UInt thread, struct mapping *mapping, ULong bytes);
/* One more of the mapping's areas is gone; the last one takes the mapping with it. */
void mapping_leave(UInt thread, struct mapping *mapping);

#endif
