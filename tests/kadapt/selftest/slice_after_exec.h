/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SLICE_AFTER_EXEC_H
#define SLICE_AFTER_EXEC_H

/* The argument with which the test program only tells its own slice, in ms. */
#define SLICE_AFTER_EXEC "--slice"

int slice_after_exec(void);

#endif
