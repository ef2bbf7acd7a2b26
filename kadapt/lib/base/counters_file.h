/* SPDX-License-Identifier: MIT */
/* The file that the user names in KADAPT_COUNTERS. */
#ifndef LIBKADAPT_COUNTERS_FILE_H
#define LIBKADAPT_COUNTERS_FILE_H

/* The name, or NULL if the user wants no counters. */
__attribute__((visibility("hidden"))) const char *kadapt_counters_file(void);

#endif
