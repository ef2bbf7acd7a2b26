// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * For each row of advice.toml a program that has the cause, and one that does the same without it.
 *
 * Case N is section 2N + 1 with the cause and section 2N + 2 without. Printed are lines
 * "case N NAME". The guest has a tmpfs and a network that is its own loopback.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../section.h"
#include "causes.h"

char block[BLOCK], into[BLOCK];

int new_file(const char *name, size_t size)
{
	int file = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);

	for (size_t done = 0; done < size; done += sizeof(block))
		if (write(file, block, sizeof(block)) < 0)
			exit(1);
	lseek(file, 0, SEEK_SET);
	return file;
}

void check(long result)
{
	if (result < 0)
		perror("causes");
}

static const struct {
	const char *name;
	void (*with)(void);
	void (*without)(void);
} cases[] = {
    {"small writes", small_writes, large_writes},
    {"small reads", small_reads, large_reads},
    {"opening truncates", truncating, overwriting},
    {"names are not in the cache", missing_names, known_names},
    {"fsync for each record", fsync_each, fsync_seldom},
    {"threads wait for the address space", maps_contended, maps_alone},
    {"fresh memory", fresh_memory, same_memory},
    {"TCP without gathering", small_sends, large_sends},
    {"directories are scanned", scan_often, scan_once},
    {"futexes", futex_often, futex_seldom},
    {"reverse map walks", moved_pages, unmoved_pages},
    {"files are asked for their state", stat_often, stat_once},
    {"processes are created", fork_often, fork_once},
    {"programs are executed", execute_often, execute_once},
    {"pipes in small pieces", small_messages, large_messages},
    {"polling many descriptors", poll_many, epoll_ready},
    {"selecting many descriptors", select_many, epoll_ready},
    {"protection changes", protect_often, protect_once},
    {"memory is mapped and unmapped", map_often, map_once},
    {"memory is advised away", advise_away, keep_pages},
    {"copies after a fork", copies, no_copies},
    {"polling by short sleeps", sleep_often, sleep_once},
    {"yielding in a loop", yield_often, yield_once},
    {"random numbers in small pieces", random_often, random_once},
    {"files are removed", remove_many, reuse_one},
    {"renaming for each record", rename_each, append_each},
    {"seeking", seek_often, read_at},
    {"file locks", lock_often, lock_once},
    {"signals", signals_handled, signals_read},
    {"files below /proc", format_often, clock_often},
    {"the heap grows and shrinks", heap_moves, heap_stays},
    {"mapped files page by page", map_by_pages, map_populated},
    {"messages between processes", small_datagrams, large_datagrams},
};

int main(void)
{
	mark(0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		printf("case %zu %s\n", i, cases[i].name);
		mark(2 * i + 1);
		cases[i].with();
		mark(2 * i + 2);
		cases[i].without();
		mark(0);
	}
	return 0;
}
