/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * io_uring without a library: RECORDS_PER_CALL records per call, in a chain, because order matters.
 */
#ifndef SUBMISSIONS_H
#define SUBMISSIONS_H

/* Functions of type int return 0 or a negative errno. */
int submissions_open(void);
/*
 * Writes RECORDS_PER_CALL records of `size` bytes, which lie `stride` bytes apart, at the
 * descriptor's own position.
 */
int submissions_write(int descriptor, const char *first, long stride, long size);
void submissions_close(void);

#endif
