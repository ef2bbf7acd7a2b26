/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * In an adapted program the compiler plugin redirects these calls. lab-adapted redirects them by
 * macros.
 */
#ifndef REDIRECTED_H
#define REDIRECTED_H

#ifdef ADAPTED
#include "libkadapt.h"

#define write(...) kadapt_write(__VA_ARGS__)
#define fflush(...) kadapt_fflush(__VA_ARGS__)
#endif

#endif
