/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Both ends of what has two: ends[0] reads what is written to ends[1]. */
#ifndef ENDS_H
#define ENDS_H

enum ends_kind { ENDS_PIPE, ENDS_UNIX, ENDS_TCP, ENDS_KINDS };

/* 0, or -1 and errno. */
int ends_open(int ends[2], enum ends_kind kind);

#endif
