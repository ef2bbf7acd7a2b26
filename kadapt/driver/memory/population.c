// SPDX-License-Identifier: GPL-2.0-only
/* A page fault in a range: which other pages become present with it. */
#include <linux/align.h>
#include <linux/kadapt.h>
#include <linux/minmax.h>
#include <linux/sched/signal.h>

#include "memory/range.h"
#include "phase/task.h"
#include "uapi/kadapt.h"

/*
 * The bytes directly below the address that have been written, at most @most.
 */
static unsigned long written_below(struct mm_struct *mm, unsigned long address,
				   unsigned long most)
{
	unsigned long bytes = 0;

	while (bytes < most &&
	       !kadapt_unwritten(mm, address - bytes - PAGE_SIZE))
		bytes += PAGE_SIZE;
	return bytes;
}

static unsigned long written_above(struct mm_struct *mm, unsigned long address,
				   unsigned long most)
{
	unsigned long bytes = 0;

	while (bytes < most && !kadapt_unwritten(mm, address + bytes))
		bytes += PAGE_SIZE;
	return bytes;
}

static unsigned long unwritten_from(struct mm_struct *mm, unsigned long address,
				    unsigned long start)
{
	while (address > start && kadapt_unwritten(mm, address - PAGE_SIZE))
		address -= PAGE_SIZE;
	return address;
}

/*
 * The program is about to write the page at @address. Returns the run that
 * follows it in the direction in which the program writes; empty if no
 * direction shows.
 */
static struct kadapt_run choose_run(struct mm_struct *mm, unsigned long address,
				    const struct kadapt_range *range)
{
	unsigned long next = address + PAGE_SIZE;
	unsigned long below = written_below(mm, address,
					    min(range->chunk,
						address - range->start));
	unsigned long above = written_above(mm, next,
					    min(range->chunk,
						range->end - next));

	if (below >= above)
		return (struct kadapt_run){
			.start = next,
			.end = kadapt_unwritten_until(mm, next,
						      min(next + below,
							  range->end)),
		};
	return (struct kadapt_run){
		.start = unwritten_from(mm, address,
					max(address - min(above, address),
					    range->start)),
		.end = address,
		.downwards = true,
	};
}

static void shorten(struct kadapt_run *run, unsigned long room)
{
	unsigned long bytes = min(run->end - run->start, room);

	if (run->downwards)
		run->start = run->end - bytes;
	else
		run->end = run->start + bytes;
}

/*
 * Two neighbouring written pages begin a run. A program that writes with a
 * stride does not write two neighbours, so it gets single pages. Behind a run,
 * the run's last page counts as the first of the two if it holds anything but
 * zeroes. If it holds zeroes, the faulting page is served alone, and the next
 * fault decides.
 */
static unsigned long populate_ahead(struct vm_area_struct *vma,
				    unsigned long address,
				    const struct kadapt_range *range)
{
	struct kadapt_ranges *ranges = vma->vm_mm->context.kadapt_ranges;
	struct kadapt_run run;
	unsigned long filled;

	if (!kadapt_ahead_goes_on(ranges, address))
		return 0;
	run = choose_run(vma->vm_mm, address, range);
	if (run.start == run.end)
		return 0;
	shorten(&run, kadapt_ahead_room(ranges));
	filled = kadapt_fill(vma, run.start, run.end);
	run.end = run.start + filled;
	if (filled)
		kadapt_ahead_add(&ranges->ahead, &run);
	return filled;
}

static unsigned long populate_chunk(struct vm_area_struct *vma,
				    unsigned long address,
				    const struct kadapt_range *range)
{
	unsigned long start = ALIGN_DOWN(address, range->chunk);
	unsigned long end = min(start + range->chunk, range->end);
	unsigned long filled = kadapt_fill(vma, max(start, range->start), end);

	/* Without the range, the faulting page would be present, too. */
	return filled ? filled - PAGE_SIZE : 0;
}

void kadapt_populate(struct vm_area_struct *vma, unsigned long address)
{
	struct mm_struct *mm = vma->vm_mm;
	struct kadapt_range range;
	unsigned long filled;

	address &= PAGE_MASK;
	if (!mm->context.kadapt_ranges || !kadapt_vma_suits(vma) ||
	    !kadapt_range_find(vma, address, &range) ||
	    !kadapt_unwritten(mm, address) || kadapt_task_memory_is_plain())
		return;
	if (range.dense)
		filled = populate_chunk(vma, address, &range);
	else
		filled = populate_ahead(vma, address, &range);
	kadapt_task_populated(filled);
}

/* Make present what the program has mapped between these addresses. */
unsigned long kadapt_populate_now(struct mm_struct *mm, unsigned long start,
				  unsigned long end)
{
	VMA_ITERATOR(vmi, mm, start);
	struct vm_area_struct *vma;
	unsigned long filled = 0;

	if (mmap_read_lock_killable(mm))
		return 0;
	for_each_vma_range(vmi, vma, end)
		if (kadapt_vma_suits(vma) && !fatal_signal_pending(current))
			filled += kadapt_fill(vma, max(start, vma->vm_start),
					      min(end, vma->vm_end));
	mmap_read_unlock(mm);
	kadapt_task_populated(filled);
	return filled;
}
