/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The programs of the cases, in pairs: with the cause, and without. */
#ifndef CAUSES_H
#define CAUSES_H

#include <stddef.h>

#define PAGE 4096
#define MUCH (4 << 20)
#define BLOCK (64 << 10)

/* What is written, and where what is read goes. */
extern char block[BLOCK], into[BLOCK];

/* A new file of so many bytes, or an end. */
int new_file(const char *name, size_t size);
/* Says so if a call failed. */
void check(long result);

/* files.c */
void small_writes(void);
void large_writes(void);
void small_reads(void);
void large_reads(void);
void truncating(void);
void overwriting(void);
void missing_names(void);
void known_names(void);
void fsync_each(void);
void fsync_seldom(void);
void scan_often(void);
void scan_once(void);
void stat_often(void);
void stat_once(void);
void remove_many(void);
void reuse_one(void);
void rename_each(void);
void append_each(void);
void seek_often(void);
void read_at(void);
void lock_often(void);
void lock_once(void);
void format_often(void);
void clock_often(void);

/* memory.c */
void maps_contended(void);
void maps_alone(void);
void fresh_memory(void);
void same_memory(void);
void moved_pages(void);
void unmoved_pages(void);
void protect_often(void);
void protect_once(void);
void map_often(void);
void map_once(void);
void advise_away(void);
void keep_pages(void);
void copies(void);
void no_copies(void);
void heap_moves(void);
void heap_stays(void);
void map_by_pages(void);
void map_populated(void);

/* tasks.c */
void futex_often(void);
void futex_seldom(void);
void fork_often(void);
void fork_once(void);
void execute_often(void);
void execute_once(void);
void small_messages(void);
void large_messages(void);
void sleep_often(void);
void sleep_once(void);
void yield_often(void);
void yield_once(void);
void signals_handled(void);
void signals_read(void);
void small_datagrams(void);
void large_datagrams(void);

/* descriptors.c */
void poll_many(void);
void epoll_ready(void);
void select_many(void);
void random_often(void);
void random_once(void);

/* network.c */
void small_sends(void);
void large_sends(void);

#endif
