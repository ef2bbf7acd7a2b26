/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a kernel charges for: see main.c. */
#ifndef KADENCE_BOOT_COSTS_H
#define KADENCE_BOOT_COSTS_H

/* Does so many of what is charged for, and returns how many; negative where it can't be done. */
typedef long (*charge_function)(long count);

/* calls.c */
long charge_call(long count);
long charge_clock(long count);
long charge_open(long count);
long charge_look(long count);
long charge_write(long count);
long charge_written_page(long count);
long charge_read(long count);
long charge_read_page(long count);
long charge_pipe(long count);
long charge_socket(long count);

/* memory.c */
long charge_map(long count);
long charge_fault(long count);
long charge_populate(long count);
long charge_file_fault(long count);

/* tasks.c */
long charge_compute(long count);
long charge_signal(long count);
long charge_wait(long count);
long charge_fork(long count);
long charge_exec(long count);

/* trace.c */
long charge_trace(long count);

/* The argument with which the program ends at once: what charge_exec() starts. */
#define NOTHING "nothing"
/* A file that the caller made, of which no page was read yet, and how many it has. */
#define COLD_FILE "cold"
#define COLD_PAGES 2048L
#define PAGE 4096L

#endif
