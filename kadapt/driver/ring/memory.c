// SPDX-License-Identifier: GPL-2.0-only
/*
 * The pages of a ring. They belong to the kernel, are charged to the process,
 * and the program maps them. The driver trusts nothing in them and reads each
 * index once.
 */
#include <linux/cred.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/user.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "base/compat.h"
#include "ring/ring.h"

#define HEADER_PAGES 1

#ifdef COMPAT_COUNTS_PINNED
atomic_long_t kadapt_pinned;
#endif

/* Charge the user's RLIMIT_MEMLOCK, as io_uring does. */
static struct user_struct *charge(unsigned int pages)
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

static void uncharge(struct user_struct *user, unsigned int pages)
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

	memory->user = charge(count);
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
	uncharge(memory->user, memory->count);
	memory->user = NULL;
}

/* The mapping holds the data twice, one copy behind the other. */
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
	 * With this flag fork(2) would give the child the parent's pages.
	 * Ordinary pages, as these are, don't need the flag once they are
	 * inserted.
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
