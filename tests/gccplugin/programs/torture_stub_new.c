/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libkadapt's counterparts of operator new, for the torture tests, under the names that the
 * compiler gives the operators. The tests link this file from an archive, so a C program does not
 * contain it.
 */
#include <stddef.h>

/* FORWARD(name, (its parameters), (parameters), (arguments)): `treatments` are the plan's. */
#define FORWARD(name, original, parameters, arguments)                                             \
	void *name original;                                                                       \
	void *kadapt_##name parameters;                                                            \
	void *kadapt_##name parameters                                                             \
	{                                                                                          \
		(void)treatments;                                                                  \
		return name arguments;                                                             \
	}

#define FORWARD_NEW(name)                                                                          \
	FORWARD(name, (size_t), (size_t size, unsigned int treatments), (size))                    \
	FORWARD(name##RKSt9nothrow_t, (size_t, const void *),                                      \
		(size_t size, const void *tag, unsigned int treatments), (size, tag))              \
	FORWARD(name##St11align_val_t, (size_t, size_t),                                           \
		(size_t size, size_t alignment, unsigned int treatments), (size, alignment))       \
	FORWARD(name##St11align_val_tRKSt9nothrow_t, (size_t, size_t, const void *),               \
		(size_t size, size_t alignment, const void *tag, unsigned int treatments),         \
		(size, alignment, tag))

FORWARD_NEW(_Znwm)
FORWARD_NEW(_Znam)
