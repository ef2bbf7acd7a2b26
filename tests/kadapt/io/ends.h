/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two connected descriptors: ends[0] reads what is written to ends[1]. */
#ifndef ENDS_H
#define ENDS_H

enum ends_kind { ENDS_PIPE, ENDS_UNIX, ENDS_TCP, ENDS_KINDS };

/* Returns 0, or -1 with errno. */
int ends_open(int ends[2], enum ends_kind kind);

#endif
