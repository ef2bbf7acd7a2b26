/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A write and a send that transfer nothing: they print each call and return what `script` says. */
#ifndef SCRIPTED_IO_H
#define SCRIPTED_IO_H

#include <setjmp.h>
#include <sys/types.h>

struct script {
	int failing;	  /* number of the call that returns `result`, from 0; -1: none */
	ssize_t result;	  /* what that call returns; the others return their size */
	const char *base; /* addresses are printed relative to it */
	int calls;	  /* number of calls so far */
	jmp_buf *enough;  /* longjmp target once there were too many calls */
};

extern struct script script;

/* Prints one call and returns its result. A negative result sets errno. */
ssize_t scripted_call(const char *name, int descriptor, const void *piece, size_t size, int flags);

#endif
