// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory of a ring: pages of the kernel's own, charged to the process, which
 * it maps. Nothing in them is ever trusted: who reads an index reads it once.
 */
#include <linux/cred.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/user.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "path.h"

#define HEADER_PAGES 1

#ifdef COMPAT_COUNTS_PINNED
atomic_long_t kadapt_pinned;
#endif

struct user_struct *kadapt_charge(unsigned int pages)
{
	struct user_struct *user = get_uid(current_user());
	unsigned long limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;
	unsigned long used = atomic_long_read(compat_pinned(user));

	do {
		if (used + pages > limit && !capable(CAP_IPC_LOCK)) {
			free_uid(user);
			return NULL;
		}
	} while (!atomic_long_try_cmpxchg(compat_pinned(user), &used,
					  used + pages));
	return user;
}

void kadapt_uncharge(struct user_struct *user, unsigned int pages)
{
	atomic_long_sub(pages, compat_pinned(user));
	free_uid(user);
}

static int allocate_pages(struct kadapt_ring_memory *memory,
			  unsigned int count)
{
	memory->pages = kcalloc(count, sizeof(*memory->pages),
				GFP_KERNEL_ACCOUNT);
	if (!memory->pages)
		return -ENOMEM;
	for (; memory->count < count; memory->count++) {
		struct page *page = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);

		if (!page)
			return -ENOMEM;
		memory->pages[memory->count] = page;
	}
	memory->header = page_address(memory->pages[0]);
	memory->data = vmap(memory->pages + HEADER_PAGES, count - HEADER_PAGES,
			    VM_MAP, PAGE_KERNEL);
	return memory->data ? 0 : -ENOMEM;
}

int kadapt_ring_memory_allocate(struct kadapt_ring_memory *memory, size_t bytes)
{
	unsigned int count = HEADER_PAGES + (bytes >> PAGE_SHIFT);
	int error;

	memory->user = kadapt_charge(count);
	if (!memory->user)
		return -ENOMEM;
	memory->bytes = bytes;
	error = allocate_pages(memory, count);
	if (error) {
		atomic_long_sub(count - memory->count,
				compat_pinned(memory->user));
		kadapt_ring_memory_free(memory);
	}
	return error;
}

void kadapt_ring_memory_free(struct kadapt_ring_memory *memory)
{
	unsigned int i;

	if (!memory->user)
		return;
	vunmap(memory->data);
	for (i = 0; i < memory->count; i++)
		put_page(memory->pages[i]);
	kfree(memory->pages);
	kadapt_uncharge(memory->user, memory->count);
	memory->user = NULL;
}

/* The data is there twice, one copy behind the other. */
size_t kadapt_ring_memory_map_bytes(size_t bytes)
{
	return HEADER_PAGES * PAGE_SIZE + 2 * bytes;
}

static int insert(struct vm_area_struct *vma, unsigned long address,
		  struct page **pages, unsigned long count)
{
	return vm_insert_pages(vma, address, pages, &count);
}

int kadapt_ring_memory_map(struct kadapt_ring_memory *memory,
			   struct vm_area_struct *vma)
{
	unsigned long first = vma->vm_start + HEADER_PAGES * PAGE_SIZE;
	int error;

	error = insert(vma, vma->vm_start, memory->pages, memory->count) ?:
		insert(vma, first + memory->bytes, memory->pages + HEADER_PAGES,
		       memory->count - HEADER_PAGES);
	if (error)
		return error;
	/*
	 * Pages in a mapping with this flag are a child's after fork(2), too. Ours
	 * are ordinary ones, which need it no more once they are there.
	 */
	vm_flags_clear(vma, VM_MIXEDMAP);
	WRITE_ONCE(memory->address, first);
	return 0;
}

struct page *kadapt_ring_memory_page(const struct kadapt_ring_memory *memory,
				     unsigned long number)
{
	struct page *page;

	if (number >= memory->count)
		number -= memory->count - HEADER_PAGES;
	page = memory->pages[number];
	get_page(page);
	return page;
}
