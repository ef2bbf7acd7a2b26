/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a system call gave the program: mappings.c has where it is, mapping.c tells of it. */

#ifndef MAPPING_H
#define MAPPING_H

#include "kbbv.h"

struct touches {
	ULong pages;
	ULong runs;
	ULong upward; /* pages of runs that go on where touched pages end */
	ULong downward;
	ULong released;
};

struct mapping {
	UInt id;
	UInt areas;
	Bool of_file;
	struct birth birth;
	ULong bytes;
	struct touches touches; /* since they were last told */
	Bool changed;
};

struct mapping *mapping_new(UInt thread, ULong bytes, const struct birth *birth);
/* In a forked child, whose profile knows of none. */
void mapping_forget_all(void);
void mapping_tell_again(UInt thread, struct mapping *mapping);
void mapping_note_change(struct mapping *mapping);
void mapping_tell_size(UInt thread, struct mapping *mapping, ULong bytes);
/* Another area of it is gone; with the last one the mapping itself. */
void mapping_leave(UInt thread, struct mapping *mapping);

#endif
