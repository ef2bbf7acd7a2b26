/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls as the compiler plugin redirects them, for programs that are built with ADAPTED. */
#ifndef REDIRECTED_H
#define REDIRECTED_H

#ifdef ADAPTED
#include "libkadapt.h"

#define write kadapt_write
#define pwrite kadapt_pwrite
#define writev kadapt_writev
#define send kadapt_send
#define read kadapt_read
#define fwrite kadapt_fwrite
#define fprintf kadapt_fprintf
#define fputs kadapt_fputs
#define fputc kadapt_fputc
/* The C library has these also as macros. */
#undef fwrite_unlocked
#define fwrite_unlocked kadapt_fwrite_unlocked
#undef fputc_unlocked
#define fputc_unlocked kadapt_fputc_unlocked
#endif

#endif
