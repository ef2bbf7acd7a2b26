// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs: pages that were made present ahead of a program that writes in order. A
 * program that stops writing leaves a run behind, so the sum of all runs is
 * bounded.
 */
#include <linux/minmax.h>

#include "memory/range.h"
#include "uapi/kadapt.h"

/* Whether this address is the first one behind the run. */
static bool follows(const struct kadapt_run *run, unsigned long address)
{
	if (run->downwards)
		return address + PAGE_SIZE == run->start;
	return address == run->end;
}

/* The runs are in no order: the last one takes the place of the removed one. */
static void remove(struct kadapt_ahead *ahead, unsigned int i)
{
	ahead->runs[i] = ahead->runs[--ahead->count];
}

static unsigned long bytes_ahead(struct kadapt_ahead *ahead)
{
	unsigned long bytes = 0;
	unsigned int i;

	spin_lock(&ahead->lock);
	for (i = 0; i < ahead->count; i++)
		bytes += ahead->runs[i].end - ahead->runs[i].start;
	spin_unlock(&ahead->lock);
	return bytes;
}

/* Whether the run's last page has been written, or is no longer present. */
static bool is_over(struct mm_struct *mm, const struct kadapt_run *run)
{
	unsigned long last = run->downwards ? run->start : run->end - PAGE_SIZE;
	pte_t *pte = virt_to_pte(mm, last);

	if (!pte || !pte_present(*pte) || is_zero_pfn(pte_pfn(*pte)))
		return true;
	return memchr_inv(page_address(pte_page(*pte)), 0, PAGE_SIZE);
}

/* Remove the runs that were written to their ends without another fault. */
static void review(struct kadapt_ranges *ranges)
{
	struct kadapt_ahead *ahead = &ranges->ahead;
	unsigned int i;

	spin_lock(&ahead->lock);
	for (i = ahead->count; i-- > 0;)
		if (is_over(ranges->mm, &ahead->runs[i]))
			remove(ahead, i);
	spin_unlock(&ahead->lock);
}

/*
 * The program writes at this address. Remove the run that ends there. Returns
 * false if the run's last page is still zero, so that its use is not certain.
 */
bool kadapt_ahead_goes_on(struct kadapt_ranges *ranges, unsigned long address)
{
	struct kadapt_ahead *ahead = &ranges->ahead;
	bool goes_on = true;
	unsigned int i;

	spin_lock(&ahead->lock);
	for (i = ahead->count; i-- > 0;) {
		if (!follows(&ahead->runs[i], address))
			continue;
		goes_on = is_over(ranges->mm, &ahead->runs[i]);
		remove(ahead, i);
		break;
	}
	spin_unlock(&ahead->lock);
	return goes_on;
}

/* Returns how many more bytes may be made present ahead. */
unsigned long kadapt_ahead_room(struct kadapt_ranges *ranges)
{
	unsigned long bytes = bytes_ahead(&ranges->ahead);

	if (ranges->ahead.count == KADAPT_RUNS ||
	    bytes + KADAPT_MEMORY_CHUNK_MAX > KADAPT_MEMORY_AHEAD_MAX) {
		review(ranges);
		bytes = bytes_ahead(&ranges->ahead);
	}
	if (ranges->ahead.count == KADAPT_RUNS)
		return 0;
	return KADAPT_MEMORY_AHEAD_MAX - min(bytes, KADAPT_MEMORY_AHEAD_MAX);
}

void kadapt_ahead_add(struct kadapt_ahead *ahead, const struct kadapt_run *run)
{
	spin_lock(&ahead->lock);
	if (ahead->count < KADAPT_RUNS)
		ahead->runs[ahead->count++] = *run;
	spin_unlock(&ahead->lock);
}
