// SPDX-License-Identifier: GPL-2.0-only
/*
 * When memory is short, the driver takes back pages that it made present and
 * that still hold only zeroes. This happens before a program has to wait for
 * memory, at the latest before the kernel kills a process. The program can't
 * tell: the next access gets a page of zeroes again. When one control group is
 * short, the pages of all groups are examined; the other groups get theirs back
 * with the next fault.
 *
 * No program runs meanwhile: User-Mode Linux has one processor. So a page that
 * is zero when it is examined is zero when it is taken.
 */
#include <linux/kadapt.h>
#include <linux/memcontrol.h>
#include <linux/nodemask.h>
#include <linux/oom.h>
#include <linux/pagewalk.h>
#include <linux/rmap.h>
#include <linux/sched.h>
#include <linux/shrinker.h>
#include <linux/string.h>
#include <linux/swap.h>

#include "memory/range.h"

/* In ticks. An address space of 50 MB ends within one. */
#define LONGEST_WAIT 10

static struct shrinker *shrinker;

/* Pages made present since take_back() last examined all pages. */
static atomic_long_t unseen;

#ifdef CONFIG_MEMCG

/* A control group that is short asks only the shrinkers whose bit is set. */
static void tell_group(struct mm_struct *mm)
{
	struct mem_cgroup *group = get_mem_cgroup_from_mm(mm);

	if (group && !mem_cgroup_is_root(group))
		set_shrinker_bit(group, first_online_node, shrinker->id);
	mem_cgroup_put(group);
}

#else

static void tell_group(struct mm_struct *mm)
{
}

#endif

void kadapt_takeback_expect(struct mm_struct *mm, unsigned long pages)
{
	if (!pages)
		return;
	atomic_long_add(pages, &unseen);
	tell_group(mm);
}

/* Whether only mappings refer to the page, and it still holds only zeroes. */
static bool is_untouched(struct folio *folio)
{
	return folio_test_anon(folio) && !folio_test_large(folio) &&
	       !folio_test_ksm(folio) && !folio_test_swapcache(folio) &&
	       folio_ref_count(folio) == folio_mapcount(folio) &&
	       !memchr_inv(folio_address(folio), 0, PAGE_SIZE);
}

/* Unmap the page. Returns true if this was the last mapping, which frees it. */
static bool take_page(struct vm_area_struct *vma, unsigned long address,
		      pte_t *pte, struct folio *folio)
{
	bool is_last = folio_mapcount(folio) == 1;

	ptep_clear_flush(vma, address, pte);
	folio_remove_rmap_pte(folio, &folio->page, vma);
	dec_mm_counter(vma->vm_mm, MM_ANONPAGES);
	folio_put(folio);
	return is_last;
}

/* Called with the page table's lock held. */
static int visit_page(pte_t *pte, unsigned long address, unsigned long next,
		      struct mm_walk *walk)
{
	unsigned long *taken = walk->private;
	pte_t entry = ptep_get(pte);
	struct page *page;

	if (!pte_present(entry))
		return 0;
	page = vm_normal_page(walk->vma, address, entry);
	if (page && is_untouched(page_folio(page)))
		*taken += take_page(walk->vma, address, pte, page_folio(page));
	return 0;
}

/*
 * During a fork, mappings not copied yet still belong to the parent: skip them.
 */
static int test_mapping(unsigned long start, unsigned long end,
			struct mm_walk *walk)
{
	return walk->vma->vm_mm != walk->mm || !kadapt_vma_suits(walk->vma);
}

static const struct mm_walk_ops walk_ops = {
	.pte_entry = visit_page,
	.test_walk = test_mapping,
	.walk_lock = PGWALK_RDLOCK,
};

/*
 * A fork allocates memory while it holds its mmap lock for writing, and must
 * not be killed while empty pages could be taken. So if the lock is taken, this
 * walk goes without it. The lock's holder either sleeps or is the task that
 * allocates here. In both cases mappings and page tables are consistent,
 * because the kernel allocates memory for a change before it makes the change.
 * An address space that is being torn down has no users and is not visited.
 */
static bool visit_space(struct kadapt_ranges *ranges, void *taken)
{
	bool is_locked = mmap_read_trylock(ranges->mm);

	walk_page_range(ranges->mm, ranges->start, ranges->end, &walk_ops,
			taken);
	if (is_locked)
		mmap_read_unlock(ranges->mm);
	return true;
}

static unsigned long take_back(void)
{
	unsigned long taken = 0;

	atomic_long_set(&unseen, 0);
	/* A page that waits to go on an LRU list has one more reference. */
	lru_add_drain();
	kadapt_ranges_each(visit_space, &taken);
	return taken;
}

/* kswapd runs beside the programs, which may be about to write these pages. */
static unsigned long count_objects(struct shrinker *self,
				   struct shrink_control *control)
{
	if (current_is_kswapd())
		return 0;
	return atomic_long_read(&unseen) ?: SHRINK_EMPTY;
}

/* Examine all pages: a page in use usually shows in its first word. */
static unsigned long scan_objects(struct shrinker *self,
				  struct shrink_control *control)
{
	unsigned long taken;

	if (!atomic_long_read(&unseen))
		return SHRINK_STOP;
	taken = take_back();
	mm_account_reclaimed_pages(taken);
	return taken;
}

/*
 * An address space that is being torn down frees its pages when its task runs.
 * A task that finds no memory tries again without sleeping, so it would not let
 * the other task run, and a process would be killed. Returns true if all such
 * address spaces ended, or memory became free.
 */
static bool await_endings(void)
{
	unsigned long free_before = nr_free_pages();
	int ticks;

	if (!kadapt_ranges_ending())
		return false;
	for (ticks = 0; ticks < LONGEST_WAIT && kadapt_ranges_ending(); ticks++)
		schedule_timeout_uninterruptible(1);
	return !kadapt_ranges_ending() || nr_free_pages() > free_before;
}

static int before_a_kill(struct notifier_block *self, unsigned long unused,
			 void *freed)
{
	*(unsigned long *)freed += take_back() ?: await_endings();
	return NOTIFY_OK;
}

static struct notifier_block oom_notifier = {
	.notifier_call = before_a_kill,
};

int kadapt_takeback_init(void)
{
	int error;

	shrinker = shrinker_alloc(SHRINKER_MEMCG_AWARE | SHRINKER_NONSLAB,
				  "kadapt");
	if (!shrinker)
		return -ENOMEM;
	shrinker->count_objects = count_objects;
	shrinker->scan_objects = scan_objects;
	shrinker->seeks = 0;
	error = register_oom_notifier(&oom_notifier);
	if (error) {
		shrinker_free(shrinker);
		return error;
	}
	shrinker_register(shrinker);
	return 0;
}

void kadapt_takeback_exit(void)
{
	unregister_oom_notifier(&oom_notifier);
	shrinker_free(shrinker);
}
