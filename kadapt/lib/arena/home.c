// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "arena/budget.h"
#include "arena/home.h"
#include "arena/next.h"
#include "kadapt.h"
#include "libkadapt.h"
#include "pages/costs.h"
#include "base/levels.h"

/* malloc maps all larger blocks, however many were freed: DEFAULT_MMAP_THRESHOLD_MAX. */
#define MALLOCS_MOST ((size_t)32 << 20)

static struct kadapt_costs costs;

/*
 * The largest freed block of a size that malloc learns from, and the size that malloc was
 * taught.
 */
static _Atomic size_t largest, taught;

int kadapt_home_is(void)
{
	return !kadapt_device_query()->version;
}

static void look(void)
{
	char subject[KADAPT_COSTS_SUBJECT_BYTES], path[KADAPT_COSTS_PATH_BYTES];

	kadapt_costs_subject(subject, sizeof(subject));
	if (kadapt_costs_path(path, sizeof(path), subject))
		kadapt_costs_read(path, subject, &costs);
}

int kadapt_home_serves(unsigned int treatments, unsigned int *done)
{
	static pthread_once_t looked = PTHREAD_ONCE_INIT;

	*done = treatments;
	if (kadapt_level(KADAPT_TRIED_MEMORY) == KADAPT_LEVEL_LESS)
		*done &= ~(unsigned int)(KADAPT_TREAT_POPULATE | KADAPT_TREAT_HUGE);
	if (!kadapt_home_is())
		return 1;
	pthread_once(&looked, look);
	if (!costs.populate_pays)
		*done &= ~(unsigned int)KADAPT_TREAT_POPULATE;
	if (!costs.huge_pays)
		*done &= ~(unsigned int)KADAPT_TREAT_HUGE;
	return *done & KADAPT_TREAT_KEEP;
}

int kadapt_home_is_mallocs(size_t bytes, unsigned int treatments)
{
	if (!kadapt_home_is())
		return 0;
	if (!(treatments & KADAPT_TREAT_KEEP) || !kadapt_budget_could_keep(bytes))
		return 1;
	if (kadapt_budget_allows_fresh(bytes))
		return 0;
	/* Keeping has failed. From here on nothing is kept. */
	kadapt_budget_begin(0);
	return 1;
}

void kadapt_home_freed(size_t bytes)
{
	if (bytes > atomic_load_explicit(&largest, memory_order_relaxed) && bytes <= MALLOCS_MOST)
		atomic_store_explicit(&largest, bytes, memory_order_relaxed);
}

/*
 * malloc learns from a mapped block that is freed: it serves blocks of that size from its
 * heap from then on, and trims its heap later. So this function takes and frees one, once
 * for each size that is the largest so far, as the program would have done. Else the rest
 * of the program, and a trial's plain visits, would meet another heap.
 */
void kadapt_home_teach(void)
{
	size_t size = atomic_load_explicit(&largest, memory_order_relaxed);
	void *block;

	if (size <= atomic_load_explicit(&taught, memory_order_relaxed))
		return;
	atomic_store_explicit(&taught, size, memory_order_relaxed);
	block = malloc(size);
	__asm__ volatile("" : "+r"(block));
	kadapt_next_free(block);
}
