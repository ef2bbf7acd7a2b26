/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Redirects calls as the compiler plugin does, in programs that are built with ADAPTED. */
#ifndef REDIRECTED_H
#define REDIRECTED_H

#ifdef ADAPTED
#include "libkadapt.h"

#define write kadapt_write
#define writev kadapt_writev
#define fflush kadapt_fflush
/* The C library may also define this function as a macro. */
#undef fflush_unlocked
#define fflush_unlocked kadapt_fflush_unlocked
#endif

#endif
