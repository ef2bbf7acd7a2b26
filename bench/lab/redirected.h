/* SPDX-License-Identifier: GPL-2.0-or-later */
/* In an adapted program's regions the compiler plugin calls these instead: so does lab-adapted. */
#ifndef REDIRECTED_H
#define REDIRECTED_H

#ifdef ADAPTED
#include "libkadapt.h"

#define write(...) kadapt_write(__VA_ARGS__)
#define read(...) kadapt_read(__VA_ARGS__)
#define send(...) kadapt_send(__VA_ARGS__)
#define fwrite(...) kadapt_fwrite(__VA_ARGS__)
#define fflush(...) kadapt_fflush(__VA_ARGS__)
#endif

#endif
