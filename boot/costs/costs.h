/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The operations whose costs are measured: see main.c. */
#ifndef KADENCE_BOOT_COSTS_H
#define KADENCE_BOOT_COSTS_H

/* Does at least `count` operations and returns how many it did; negative if it cannot. */
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
long charge_free(long count);
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

/* With this argument, the program ends at once: charge_exec() starts it so. */
#define NOTHING "nothing"
/* A file made by the caller, none of whose COLD_PAGES pages was read yet. */
#define COLD_FILE "cold"
#define COLD_PAGES 2048L
#define PAGE 4096L

#endif
