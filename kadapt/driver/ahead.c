// SPDX-License-Identifier: GPL-2.0-only
/*
 * What was made present ahead of writers that have not come to its end yet. Who
 * never does leaves a run behind; all of them together are bounded.
 */
#include <linux/minmax.h>

#include "range.h"
#include "uapi/kadapt.h"

/* Does a fault at this address follow right behind the run? */
static bool follows(const struct kadapt_run *run, unsigned long address)
{
	if (run->downwards)
		return address + PAGE_SIZE == run->start;
	return address == run->end;
}

/* In no particular order, so that the last can take a removed one's place. */
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

/* Is the page that a writer comes to last written, or not there any more? */
static bool is_over(struct mm_struct *mm, const struct kadapt_run *run)
{
	unsigned long last = run->downwards ? run->start : run->end - PAGE_SIZE;
	pte_t *pte = virt_to_pte(mm, last);

	if (!pte || !pte_present(*pte) || is_zero_pfn(pte_pfn(*pte)))
		return true;
	return memchr_inv(page_address(pte_page(*pte)), 0, PAGE_SIZE);
}

/* Look at the pages themselves: who left a run may have come to its end. */
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
 * A writer has come to this address. If a run ends there it is one no longer.
 * False where nothing but this shows that it was written to its end.
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

/* How much more may be made present ahead. */
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
