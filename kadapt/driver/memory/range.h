/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ranges of memory whose page faults are served in bulk. The files of this
 * folder share this header:
 *
 *	ranges.c	the call, and the ranges of each address space
 *	population.c	a fault: which pages to make present
 *	ahead.c		pages made present ahead and not reached yet
 *	filling.c	making pages present
 *	takeback.c	taking empty pages back when memory is short
 *
 * Locking. The mmap lock, held for writing, protects changes of the ranges;
 * held for reading, it protects lookups and the page table entries. takeback.c
 * explains when it goes without. The lock in struct kadapt_ahead orders the
 * faults of threads.
 *
 * Lifetime. The ranges belong to the address space and are freed with it. They
 * hold no reference to it. A walk of all ranges takes a user of each address
 * space.
 */
#ifndef _KADAPT_RANGE_H
#define _KADAPT_RANGE_H

#include <linux/list.h>
#include <linux/maple_tree.h>
#include <linux/mm.h>
#include <linux/pgtable.h>
#include <linux/spinlock.h>
#include <linux/userfaultfd_k.h>

/* The range around an address, cut to the mapping there. */
struct kadapt_range {
	unsigned long start, end;
	unsigned long chunk;		/* bytes */
	bool dense;
};

/* Pages made present ahead of a writer that has not come to their end yet. */
struct kadapt_run {
	unsigned long start, end;
	bool downwards;
};

#define KADAPT_RUNS 32

struct kadapt_ahead {
	spinlock_t lock;		/* protects count and runs */
	unsigned int count;
	struct kadapt_run runs[KADAPT_RUNS];
};

struct kadapt_ranges {
	struct list_head all;		/* protected by the lock in ranges.c */
	struct mm_struct *mm;
	struct maple_tree tree;		/* see entry_of() */
	/* All ranges ever bound lie between these, inherited ones included. */
	unsigned long start, end;
	struct kadapt_ahead ahead;
};

/* Ranges are for private anonymous memory, which begins as zeroes. */
static inline bool kadapt_vma_suits(struct vm_area_struct *vma)
{
	return vma_is_anonymous(vma) && !userfaultfd_armed(vma) &&
	       (vma->vm_flags & (VM_WRITE | VM_SHARED)) == VM_WRITE &&
	       !(vma->vm_flags & (VM_LOCKED | VM_LOCKONFAULT | VM_SPECIAL |
				  VM_HUGETLB | VM_DROPPABLE));
}

/* Never written: no page, or the page of zeroes that a read fault maps. */
static inline bool kadapt_pte_unwritten(pte_t pte)
{
	return pte_none(pte) ||
	       (pte_present(pte) && is_zero_pfn(pte_pfn(pte)));
}

static inline bool kadapt_unwritten(struct mm_struct *mm, unsigned long address)
{
	pte_t *pte = virt_to_pte(mm, address);

	return !pte || kadapt_pte_unwritten(*pte);
}

/* ranges.c */
bool kadapt_range_find(struct vm_area_struct *vma, unsigned long address,
		       struct kadapt_range *range);
bool kadapt_range_next(struct kadapt_ranges *ranges, unsigned long *address,
		       struct kadapt_range *range);
void kadapt_ranges_each(bool (*visit)(struct kadapt_ranges *ranges, void *data),
			void *data);
bool kadapt_ranges_ending(void);

/* ahead.c */
bool kadapt_ahead_goes_on(struct kadapt_ranges *ranges, unsigned long address);
unsigned long kadapt_ahead_room(struct kadapt_ranges *ranges);
void kadapt_ahead_add(struct kadapt_ahead *ahead,
		      const struct kadapt_run *run);

/* filling.c */
unsigned long kadapt_unwritten_until(struct mm_struct *mm,
				     unsigned long address, unsigned long end);
/* Returns the bytes made present: fewer than wanted if memory is short. */
unsigned long kadapt_fill(struct vm_area_struct *vma, unsigned long start,
			  unsigned long end);

/* population.c */
unsigned long kadapt_populate_now(struct mm_struct *mm, unsigned long start,
				  unsigned long end);

/* takeback.c */
void kadapt_takeback_expect(struct mm_struct *mm, unsigned long pages);
int kadapt_takeback_init(void);
void kadapt_takeback_exit(void);

#endif /* _KADAPT_RANGE_H */
