/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Positioned code: copies of the kernel's hot blocks, next to each other. A copy
 * does what its original does, instruction by instruction, with the same frames
 * on the stack. So a task can go on in the original wherever it is in a copy.
 *
 * kadence/positioned/assembly.py makes the arrays, each with its end.
 */
#ifndef _KADENCE_CODE_H
#define _KADENCE_CODE_H

#include <linux/list.h>
#include <linux/types.h>

/* A traced place of the kernel, and the stub that it calls. */
struct kadence_entry {
	unsigned long place;
	unsigned long stub;
};

/*
 * From here to the next run, copies and originals have the same distance. The
 * runs are in the order of the copies.
 */
struct kadence_run {
	u32 copy;	/* from kadence_code */
	u32 original;	/* from _stext */
};

extern const char kadence_code[], kadence_code_end[];
extern const struct kadence_entry kadence_entries[], kadence_entries_end[];
extern const struct kadence_run kadence_runs[], kadence_runs_end[];
/* The notes of the kernel for which this is, among them its build ID. */
extern const char kadence_notes[], kadence_notes_end[];

/* The kernel's, which it does not export. */
extern const char __start_notes[], __stop_notes[];
extern struct list_head modules;

/* Lets all tasks that are in copies go on in the originals. No entry may lead to them. */
void kadence_leave(void);

#endif
