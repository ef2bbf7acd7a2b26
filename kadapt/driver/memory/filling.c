// SPDX-License-Identifier: GPL-2.0-only
/*
 * Making pages present. Each allocation is contiguous in physical memory, so
 * that the host maps it with one call, and never waits for reclaim. When the
 * machine or the program's control group is short of memory, no page is made
 * present ahead.
 */
#include <linux/gfp.h>
#include <linux/kadapt.h>
#include <linux/log2.h>
#include <linux/memcontrol.h>
#include <linux/minmax.h>
#include <linux/oom.h>
#include <linux/rmap.h>
#include <linux/sched/signal.h>
#include <linux/swap.h>

#include <asm/kadapt.h>
#include <asm/pgalloc.h>

#include "memory/range.h"

/* One part in this many stays free for what programs ask for themselves. */
#define RESERVED_SHARE 16

unsigned long kadapt_unwritten_until(struct mm_struct *mm,
				     unsigned long address, unsigned long end)
{
	while (address < end && kadapt_unwritten(mm, address))
		address += PAGE_SIZE;
	return address;
}

static bool memory_is_short(unsigned long bytes)
{
	long reserved = totalram_pages() / RESERVED_SHARE;

	return si_mem_available() < (long)(bytes >> PAGE_SHIFT) + reserved;
}

#ifdef CONFIG_MEMCG

static bool is_short(struct mem_cgroup *group, unsigned long pages)
{
	unsigned long most = min(READ_ONCE(group->memory.max),
				 READ_ONCE(group->memory.high));

	return page_counter_read(&group->memory) + pages +
	       most / RESERVED_SHARE > most;
}

/* Whether the process's group, or a group around it, is short of memory. */
static bool group_is_short(struct mm_struct *mm, unsigned long bytes)
{
	struct mem_cgroup *own = get_mem_cgroup_from_mm(mm), *group = own;

	while (group && !is_short(group, bytes >> PAGE_SHIFT))
		group = parent_mem_cgroup(group);
	mem_cgroup_put(own);
	return group;
}

#else

static bool group_is_short(struct mm_struct *mm, unsigned long bytes)
{
	return false;
}

#endif

/* Large allocations start no reclaim; small ones may wake kswapd. */
static gfp_t block_gfp(unsigned int order)
{
	gfp_t gfp = GFP_HIGHUSER_MOVABLE | __GFP_NOWARN | __GFP_NOMEMALLOC;

	if (order > PAGE_ALLOC_COSTLY_ORDER)
		return gfp & ~__GFP_RECLAIM;
	return gfp & ~__GFP_DIRECT_RECLAIM;
}

/*
 * Charge the pages to the process's control group without reclaim. Pages that
 * do not fit are freed. Returns the number of pages charged.
 */
static unsigned int charge(struct mm_struct *mm, struct page *page,
			   unsigned int count)
{
	unsigned int charged = 0, i;

	while (charged < count &&
	       !mem_cgroup_charge(page_folio(page + charged), mm, block_gfp(0)))
		charged++;
	for (i = charged; i < count; i++)
		__free_page(page + i);
	return charged;
}

/*
 * Allocate as many contiguous pages as possible, at most *count, and charge
 * them. Returns the first of them as single pages, with their number in *count.
 */
static struct page *take_block(struct mm_struct *mm, unsigned int *count)
{
	int order = min(ilog2(*count), MAX_PAGE_ORDER);

	for (; order >= 0; order--) {
		struct page *page = alloc_pages(block_gfp(order), order);

		if (!page)
			continue;
		split_page(page, order);
		*count = charge(mm, page, 1U << order);
		return *count ? page : NULL;
	}
	return NULL;
}

/* Does for this page what do_anonymous_page() does. */
static void install_page(struct vm_area_struct *vma, unsigned long address,
			 pte_t *pte, struct page *page)
{
	struct folio *folio = page_folio(page);
	pte_t entry = pte_sw_mkyoung(mk_pte(page, vma->vm_page_prot));

	__folio_mark_uptodate(folio);
	folio_add_new_anon_rmap(folio, vma, address, RMAP_EXCLUSIVE);
	folio_add_lru_vma(folio, vma);
	set_pte_at(vma->vm_mm, address, pte,
		   pte_mkwrite(pte_mkdirty(entry), vma));
}

/*
 * A page that another thread has made present meanwhile is freed. If all pages
 * were needed, the host maps them with one call; otherwise it maps each when it
 * faults.
 */
static unsigned int install(struct vm_area_struct *vma, pmd_t *pmd,
			    unsigned long address, struct page *page,
			    unsigned int count)
{
	struct mm_struct *mm = vma->vm_mm;
	unsigned int installed = 0, i;
	spinlock_t *lock;	/* of the table */
	pte_t *pte = pte_offset_map_lock(mm, pmd, address, &lock);
	bool is_stable = pte && !check_stable_address_space(mm);

	for (i = 0; i < count; i++) {
		if (!is_stable || !kadapt_pte_unwritten(ptep_get(pte + i))) {
			folio_put(page_folio(page + i));
			continue;
		}
		install_page(vma, address + i * PAGE_SIZE, pte + i, page + i);
		installed++;
	}
	add_mm_counter(mm, MM_ANONPAGES, installed);
	if (installed == count)
		um_map_present(mm, address, pte, count);
	if (pte)
		pte_unmap_unlock(pte, lock);
	return installed;
}

/*
 * The page table that holds this address's entry; allocated if it is missing.
 */
static pmd_t *table_of(struct mm_struct *mm, unsigned long address)
{
	p4d_t *p4d = p4d_alloc(mm, pgd_offset(mm, address), address);
	pud_t *pud = p4d ? pud_alloc(mm, p4d, address) : NULL;
	pmd_t *pmd = pud ? pmd_alloc(mm, pud, address) : NULL;

	return pmd && !pte_alloc(mm, pmd) ? pmd : NULL;
}

/* The addresses belong to one page table. Returns false without memory. */
static bool fill_table(struct vm_area_struct *vma, unsigned long start,
		       unsigned long end, unsigned long *filled)
{
	struct mm_struct *mm = vma->vm_mm;
	pmd_t *pmd = table_of(mm, start);
	unsigned int count;
	struct page *page;

	for (; pmd && start < end; start += count * PAGE_SIZE) {
		count = (kadapt_unwritten_until(mm, start, end) - start) >>
			PAGE_SHIFT;
		if (!count) {
			count = 1;
			continue;
		}
		page = take_block(mm, &count);
		if (!page)
			return false;
		um_clear_pages(page_to_phys(page), count * PAGE_SIZE);
		*filled += install(vma, pmd, start, page, count) * PAGE_SIZE;
	}
	return pmd;
}

unsigned long kadapt_fill(struct vm_area_struct *vma, unsigned long start,
			  unsigned long end)
{
	unsigned long filled = 0, next;

	if (anon_vma_prepare(vma))
		return 0;
	for (; start < end && !fatal_signal_pending(current); start = next) {
		next = pmd_addr_end(start, end);
		if (memory_is_short(next - start) ||
		    group_is_short(vma->vm_mm, next - start) ||
		    !fill_table(vma, start, next, &filled))
			break;
		cond_resched();
	}
	kadapt_takeback_expect(vma->vm_mm, filled >> PAGE_SHIFT);
	return filled;
}
