/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SLICE_AFTER_EXEC_H
#define SLICE_AFTER_EXEC_H

/* With this argument the test program only returns its own slice, in ms, as its status. */
#define SLICE_AFTER_EXEC "--slice"

int slice_after_exec(void);

#endif
