/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ranges of memory whose faults are served in bulk. Shared by the files that
 * serve them: ranges.c (the call, and whose ranges they are), population.c (a
 * fault: which pages), ahead.c (what was made present and not reached yet),
 * filling.c (to make pages present), takeback.c (where memory is short).
 *
 * Locking. The ranges change with the mmap lock held for writing and are read
 * with it held for reading, as is all that looks at page table entries here;
 * takeback.c says when it does without.
 * The lock in struct kadapt_ahead is for the faults of several threads.
 *
 * Lifetime. The ranges belong to the address space and go with the last
 * reference to it; they hold none. Who walks the list of all of them takes hold
 * of each address space that still has users.
 */
#ifndef _KADAPT_RANGE_H
#define _KADAPT_RANGE_H

#include <linux/list.h>
#include <linux/maple_tree.h>
#include <linux/mm.h>
#include <linux/pgtable.h>
#include <linux/spinlock.h>
#include <linux/userfaultfd_k.h>

/* A range as it is at one address, no larger than the mapping there. */
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
	spinlock_t lock;		/* of both that follow */
	unsigned int count;
	struct kadapt_run runs[KADAPT_RUNS];
};

struct kadapt_ranges {
	struct list_head all;		/* under the lock in ranges.c */
	struct mm_struct *mm;
	struct maple_tree tree;		/* see entry_of() */
	/* All that was ever bound lies here, also what came from a parent. */
	unsigned long start, end;
	struct kadapt_ahead ahead;
};

/* What this is about: memory that is nobody else's and begins as zeroes. */
static inline bool kadapt_vma_suits(struct vm_area_struct *vma)
{
	return vma_is_anonymous(vma) && !userfaultfd_armed(vma) &&
	       (vma->vm_flags & (VM_WRITE | VM_SHARED)) == VM_WRITE &&
	       !(vma->vm_flags & (VM_LOCKED | VM_LOCKONFAULT | VM_SPECIAL |
				  VM_HUGETLB | VM_DROPPABLE));
}

/* Never written: nothing there, or the page of zeroes that reading gave. */
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

/* ahead.c */
bool kadapt_ahead_goes_on(struct kadapt_ranges *ranges, unsigned long address);
unsigned long kadapt_ahead_room(struct kadapt_ranges *ranges);
void kadapt_ahead_add(struct kadapt_ahead *ahead,
		      const struct kadapt_run *run);

/* filling.c */
unsigned long kadapt_unwritten_until(struct mm_struct *mm,
				     unsigned long address, unsigned long end);
/* Bytes made present, fewer than asked for where memory is short. */
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
