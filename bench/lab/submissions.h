/* SPDX-License-Identifier: GPL-2.0-or-later */
/* io_uring without a library: RECORDS_PER_CALL records a call, in a chain, as order matters. */
#ifndef SUBMISSIONS_H
#define SUBMISSIONS_H

/* Functions of type int return 0 or a negative errno. */
int submissions_open(void);
/* Records of a size, each a stride after the one before, to the descriptor's own position. */
int submissions_write(int descriptor, const char *first, long stride, long size);
void submissions_close(void);

#endif
