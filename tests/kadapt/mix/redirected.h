/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls as the compiler plugin redirects them, for programs that are built with ADAPTED. */
#ifndef REDIRECTED_H
#define REDIRECTED_H

#ifdef ADAPTED
#include "libkadapt.h"

#define write kadapt_write
#define writev kadapt_writev
#define fflush kadapt_fflush
/* The C library may have it also as a macro. */
#undef fflush_unlocked
#define fflush_unlocked kadapt_fflush_unlocked
#endif

#endif
