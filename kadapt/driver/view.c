// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a window shows. All pages are mapped when the program looks, so that it
 * faults where nothing is shown only: there it gets zeros.
 */
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/swap.h>

#include "compat.h"
#include "window.h"

#define HEADER_PAGES 1

int kadapt_view_create(struct kadapt_view *view, unsigned int capacity)
{
	mutex_init(&view->lock);
	view->capacity = capacity;
	view->pages = kcalloc(capacity, sizeof(*view->pages),
			      GFP_KERNEL_ACCOUNT);
	view->header = (void *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
	return view->pages && view->header ? 0 : -ENOMEM;
}

void kadapt_view_destroy(struct kadapt_view *view)
{
	free_page((unsigned long)view->header);
	kfree(view->pages);
	mutex_destroy(&view->lock);
}

static unsigned long pfn_at(struct kadapt_view *view, unsigned long page)
{
	if (page < HEADER_PAGES)
		return page_to_pfn(virt_to_page(view->header));
	if (page - HEADER_PAGES < view->count)
		return page_to_pfn(view->pages[page - HEADER_PAGES]);
	view->has_zeros = true;
	return page_to_pfn(ZERO_PAGE(0));
}

vm_fault_t kadapt_view_fault(struct kadapt_view *view, struct vm_fault *fault)
{
	struct vm_area_struct *vma = fault->vma;
	unsigned long page = (fault->address - vma->vm_start) >> PAGE_SHIFT;
	vm_fault_t result;

	mutex_lock(&view->lock);
	result = vmf_insert_pfn(vma, fault->address, pfn_at(view, page));
	mutex_unlock(&view->lock);
	return result;
}

void kadapt_view_withdraw(struct kadapt_view *view)
{
	struct kadapt_window_header *header = view->header;

	WRITE_ONCE(header->generation, header->generation + 1);
	/* Before the lease is returned or a page unmapped. */
	smp_mb();
}

void kadapt_view_discard(struct kadapt_view *view, unsigned int count)
{
	while (count)
		put_page(view->pages[--count]);
}

/* With the lock held. */
static void put_pages(struct kadapt_view *view)
{
	kadapt_view_discard(view, view->count);
	view->count = 0;
}

/* Of the program, whose mmap_lock is held; NULL where it was unmapped. */
static struct vm_area_struct *find_mapping(struct kadapt_view *view)
{
	struct vm_area_struct *vma = vma_lookup(view->region->mm,
						view->address);

	return vma && vma->vm_private_data == view->region ? vma : NULL;
}

static unsigned long data_address(const struct vm_area_struct *vma)
{
	return vma->vm_start + HEADER_PAGES * PAGE_SIZE;
}

static void unmap(struct kadapt_view *view)
{
	struct vm_area_struct *vma = find_mapping(view);

	mutex_lock(&view->lock);
	if (vma)
		zap_special_vma_range(vma, data_address(vma),
				      (unsigned long)view->capacity
				      << PAGE_SHIFT);
	put_pages(view);
	view->has_zeros = false;
	mutex_unlock(&view->lock);
}

/* Nobody runs in that memory any more. */
static bool empty_without_memory(struct kadapt_view *view)
{
	mutex_lock(&view->lock);
	put_pages(view);
	mutex_unlock(&view->lock);
	return true;
}

bool kadapt_view_empty(struct kadapt_view *view)
{
	struct mm_struct *mm = view->region->mm;
	bool locked;

	if (!view->count)
		return true;
	if (!mmget_not_zero(mm))
		return empty_without_memory(view);
	locked = mmap_read_trylock(mm);
	if (locked) {
		unmap(view);
		mmap_read_unlock(mm);
	}
	mmput_async(mm);
	return locked;
}

/*
 * With a reference, by which it stays the file's page: neither reclaim nor
 * invalidation takes a page away that somebody refers to.
 */
static struct page *page_in_memory(struct address_space *mapping,
				   pgoff_t index)
{
	struct folio *folio = filemap_get_folio(mapping, index);
	struct page *page;

	if (IS_ERR(folio))
		return NULL;
	page = folio_file_page(folio, index);
	if (folio_test_uptodate(folio) && !PageHWPoison(page)) {
		folio_mark_accessed(folio);
		return page;
	}
	folio_put(folio);
	return NULL;
}

/* Take pages from @index on by @step, up to @limit; how many are there? */
static unsigned int collect(struct page **pages, struct address_space *mapping,
			    pgoff_t index, int step, unsigned int limit)
{
	unsigned int count;

	for (count = 0; count < limit; count++) {
		*pages = page_in_memory(mapping, index);
		if (!*pages)
			break;
		pages += step;
		index += step;
	}
	return count;
}

/* Nothing is shown, so that no fault looks at what is being collected. */
struct kadapt_span kadapt_view_collect(struct kadapt_view *view,
				       struct address_space *mapping,
				       struct kadapt_span span,
				       pgoff_t around)
{
	unsigned int before = around - span.first;
	struct page **middle = view->pages + before;
	unsigned int after, found;

	after = collect(middle, mapping, around, 1, span.count - before);
	found = after && before ?
		collect(middle - 1, mapping, around - 1, -1, before) : 0;
	memmove(view->pages, middle - found,
		(found + after) * sizeof(*view->pages));
	return (struct kadapt_span){ around - found, found + after };
}

/* Whether read(2) of one of these would begin to read what comes after. */
bool kadapt_view_asks_for_more(const struct kadapt_view *view,
			       unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (folio_test_readahead(page_folio(view->pages[i])))
			return true;
	return false;
}

/* What is still to be mapped. */
struct mapper {
	struct vm_area_struct *vma;
	struct page **next;
};

static int map_page(pte_t *entry, unsigned long address, void *data)
{
	struct mapper *mapper = data;
	pte_t mapped = mk_pte(*mapper->next++, mapper->vma->vm_page_prot);

	set_pte_at(mapper->vma->vm_mm, address, entry, pte_mkspecial(mapped));
	return 0;
}

/*
 * All in one go: vmf_insert_pfn() asks of each page anew whether it is memory,
 * for 700 instructions.
 */
static int map_pages(struct kadapt_view *view, struct vm_area_struct *vma)
{
	struct mapper mapper = { vma, view->pages };

	/* Nothing is mapped where a page goes. */
	if (view->has_zeros)
		zap_special_vma_range(vma, data_address(vma),
				      (unsigned long)view->capacity
				      << PAGE_SHIFT);
	view->has_zeros = false;
	if (!view->count)
		return 0;
	return apply_to_page_range(vma->vm_mm, data_address(vma),
				   (unsigned long)view->count << PAGE_SHIFT,
				   map_page, &mapper);
}

/* By a thread of the program. */
int kadapt_view_show(struct kadapt_view *view, unsigned int count)
{
	struct mm_struct *mm = view->region->mm;
	struct vm_area_struct *vma;
	int error;

	if (!mmap_read_trylock(mm)) {
		kadapt_view_discard(view, count);
		return -EBUSY;
	}
	vma = find_mapping(view);
	mutex_lock(&view->lock);
	view->count = count;
	error = vma ? map_pages(view, vma) : -ENXIO;
	mutex_unlock(&view->lock);
	mmap_read_unlock(mm);
	return error;
}
