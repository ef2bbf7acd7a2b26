/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A write and a send that move nothing: they tell of each call and return what was asked for. */
#ifndef SCRIPTED_IO_H
#define SCRIPTED_IO_H

#include <setjmp.h>
#include <sys/types.h>

struct script {
	int failing;	  /* number of the call that does not write its piece whole; -1: none */
	ssize_t result;	  /* what it returns */
	const char *base; /* addresses are told relative to it */
	int calls;	  /* made so far */
	jmp_buf *enough;  /* where to go when there are too many */
};

extern struct script script;

/* One call: told, and answered. */
ssize_t scripted_call(const char *name, int descriptor, const void *piece, size_t size, int flags);

#endif
