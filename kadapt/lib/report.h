/* SPDX-License-Identifier: MIT */
#ifndef LIBKADAPT_REPORT_H
#define LIBKADAPT_REPORT_H

/* Has the user asked for counters, by KADAPT_COUNTERS=FILE? */
__attribute__((visibility("hidden"))) int kadapt_report_wanted(void);

/*
 * Append this process's counters to that file, if it has the device or an arena; in vain where it
 * can't be written.
 */
__attribute__((visibility("hidden"))) void kadapt_report_write(int descriptor);

#endif
