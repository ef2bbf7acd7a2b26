// SPDX-License-Identifier: GPL-2.0-only
/* The ranges of each address space, and the list of all of them. */
#include <linux/kadapt.h>
#include <linux/log2.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "memory/range.h"
#include "memory/ranges.h"
#include "uapi/kadapt.h"

#define KINDS (KADAPT_MEMORY_AHEAD | KADAPT_MEMORY_DENSE | KADAPT_MEMORY_PLAIN)

static LIST_HEAD(all_ranges);
static DEFINE_SPINLOCK(all_lock);

/*
 * The tree holds a value for each range: dense or not, and the chunk's pages.
 */
static void *entry_of(const struct kadapt_memory *memory)
{
	unsigned int order = ilog2(memory->chunk_bytes >> PAGE_SHIFT);
	bool dense = memory->flags & KADAPT_MEMORY_DENSE;

	if (memory->flags & KADAPT_MEMORY_PLAIN)
		return NULL;
	return xa_mk_value(order << 1 | dense);
}

/* Find the range at this address. Returns false if there is none. */
static bool range_at(struct kadapt_ranges *ranges, unsigned long address,
		     struct kadapt_range *range)
{
	MA_STATE(mas, &ranges->tree, address, address);
	unsigned long value;
	void *entry;

	rcu_read_lock();
	entry = mas_walk(&mas);
	rcu_read_unlock();
	if (!entry)
		return false;
	value = xa_to_value(entry);
	*range = (struct kadapt_range){
		.start = mas.index,
		.end = mas.last + 1,
		.chunk = PAGE_SIZE << (value >> 1),
		.dense = value & 1,
	};
	return true;
}

bool kadapt_range_find(struct vm_area_struct *vma, unsigned long address,
		       struct kadapt_range *range)
{
	struct kadapt_ranges *ranges = vma->vm_mm->context.kadapt_ranges;

	if (!range_at(ranges, address, range))
		return false;
	range->start = max(range->start, vma->vm_start);
	range->end = min(range->end, vma->vm_end);
	return true;
}

/* Find the first range from *address on, and move *address behind it. */
bool kadapt_range_next(struct kadapt_ranges *ranges, unsigned long *address,
		       struct kadapt_range *range)
{
	if (!mt_find(&ranges->tree, address, ULONG_MAX))
		return false;
	return range_at(ranges, *address - 1, range);
}

static int check_kind(const struct kadapt_memory *memory)
{
	u32 kind = memory->flags & KINDS;

	if (memory->flags & ~KADAPT_MEMORY__ALL || memory->reserved)
		return -EINVAL;
	if (!is_power_of_2(kind))
		return -EINVAL;
	if (memory->flags & KADAPT_MEMORY_NOW && kind != KADAPT_MEMORY_DENSE)
		return -EINVAL;
	return 0;
}

static int check_place(const struct kadapt_memory *memory)
{
	if (!PAGE_ALIGNED(memory->address) || !PAGE_ALIGNED(memory->bytes))
		return -EINVAL;
	if (!memory->bytes || memory->bytes > TASK_SIZE ||
	    memory->address > TASK_SIZE - memory->bytes)
		return -EINVAL;
	return 0;
}

static int check_chunk(const struct kadapt_memory *memory)
{
	if (!is_power_of_2(memory->chunk_bytes) ||
	    !PAGE_ALIGNED(memory->chunk_bytes))
		return -EINVAL;
	return memory->chunk_bytes > KADAPT_MEMORY_CHUNK_MAX ? -ERANGE : 0;
}

static unsigned int count_ranges(struct kadapt_ranges *ranges)
{
	struct kadapt_range range;
	unsigned long next = 0;
	unsigned int count = 0;

	while (kadapt_range_next(ranges, &next, &range))
		count++;
	return count;
}

/* Whether taking these addresses out of a range would split it in two. */
static bool splits(struct kadapt_ranges *ranges, unsigned long start,
		   unsigned long end)
{
	struct kadapt_range around;

	return range_at(ranges, start, &around) && around.start < start &&
	       around.end > end;
}

/* Join the new range with neighbours of the same kind. */
static void join_neighbours(struct kadapt_ranges *ranges, void *entry,
			    unsigned long *start, unsigned long *end)
{
	struct kadapt_range beside;

	if (*start && mtree_load(&ranges->tree, *start - 1) == entry &&
	    range_at(ranges, *start - 1, &beside))
		*start = beside.start;
	if (mtree_load(&ranges->tree, *end) == entry &&
	    range_at(ranges, *end, &beside))
		*end = beside.end;
}

/* The caller holds the mmap lock for writing. */
static int store(struct kadapt_ranges *ranges,
		 const struct kadapt_memory *memory)
{
	unsigned long start = memory->address, end = start + memory->bytes;
	void *entry = entry_of(memory);

	if (count_ranges(ranges) >= KADAPT_MEMORY_RANGES &&
	    (entry || splits(ranges, start, end)))
		return -ENOSPC;
	if (entry)
		join_neighbours(ranges, entry, &start, &end);
	return mtree_store_range(&ranges->tree, start, end - 1, entry,
				 GFP_KERNEL_ACCOUNT);
}

static struct kadapt_ranges *ranges_create(struct mm_struct *mm)
{
	struct kadapt_ranges *ranges = kzalloc(sizeof(*ranges),
					       GFP_KERNEL_ACCOUNT);

	if (!ranges)
		return NULL;
	ranges->mm = mm;
	ranges->start = ULONG_MAX;
	mt_init(&ranges->tree);
	spin_lock_init(&ranges->ahead.lock);
	spin_lock(&all_lock);
	list_add(&ranges->all, &all_ranges);
	spin_unlock(&all_lock);
	return ranges;
}

static void widen(struct kadapt_ranges *ranges, unsigned long start,
		  unsigned long end)
{
	ranges->start = min(ranges->start, start);
	ranges->end = max(ranges->end, end);
}

static int bind(struct mm_struct *mm, const struct kadapt_memory *memory)
{
	int error = -ENOMEM;

	if (mmap_write_lock_killable(mm))
		return -EINTR;
	if (!mm->context.kadapt_ranges)
		mm->context.kadapt_ranges = ranges_create(mm);
	if (mm->context.kadapt_ranges)
		error = store(mm->context.kadapt_ranges, memory);
	if (!error)
		widen(mm->context.kadapt_ranges, memory->address,
		      memory->address + memory->bytes);
	mmap_write_unlock(mm);
	return error;
}

int kadapt_ranges_bind(struct kadapt_memory *memory)
{
	int error;

	if (!memory->chunk_bytes)
		memory->chunk_bytes = KADAPT_MEMORY_CHUNK_DEFAULT;
	memory->done = 0;
	error = check_kind(memory) ?: check_place(memory) ?:
		check_chunk(memory) ?: bind(current->mm, memory);
	if (!error && memory->flags & KADAPT_MEMORY_NOW)
		memory->done = kadapt_populate_now(current->mm, memory->address,
						   memory->address +
							   memory->bytes);
	return error;
}

/*
 * fork(2): the child begins without ranges but shares its parent's pages. Pages
 * that were made present in vain can be taken back from the child, too.
 */
int kadapt_inherit(struct mm_struct *mm)
{
	/* Copied from the parent, which can't go away while it forks. */
	struct kadapt_ranges *parents = mm->context.kadapt_ranges;

	mm->context.kadapt_ranges = parents ? ranges_create(mm) : NULL;
	if (!parents)
		return 0;
	if (!mm->context.kadapt_ranges)
		return -ENOMEM;
	widen(mm->context.kadapt_ranges, parents->start, parents->end);
	return 0;
}

void kadapt_forget(struct mm_struct *mm)
{
	struct kadapt_ranges *ranges = mm->context.kadapt_ranges;

	if (!ranges)
		return;
	spin_lock(&all_lock);
	list_del(&ranges->all);
	spin_unlock(&all_lock);
	mtree_destroy(&ranges->tree);
	kfree(ranges);
	mm->context.kadapt_ranges = NULL;
}

/* The first ranges whose address space has users. Takes one more user. */
static struct kadapt_ranges *take_first(struct list_head *list)
{
	struct kadapt_ranges *ranges;

	list_for_each_entry(ranges, list, all)
		if (mmget_not_zero(ranges->mm))
			return ranges;
	return NULL;
}

/*
 * Call @visit for the ranges of each address space until it returns false.
 * Visited ranges move to the end of the list, so that the next walk begins with
 * others. Each is visited at most once, unless the list changes during the
 * walk.
 */
void kadapt_ranges_each(bool (*visit)(struct kadapt_ranges *ranges, void *data),
			void *data)
{
	size_t left;
	bool goes_on = true;

	spin_lock(&all_lock);
	for (left = list_count_nodes(&all_ranges); left && goes_on; left--) {
		struct kadapt_ranges *ranges = take_first(&all_ranges);

		if (!ranges)
			break;
		list_move_tail(&ranges->all, &all_ranges);
		spin_unlock(&all_lock);
		goes_on = visit(ranges, data);
		mmput_async(ranges->mm);
		spin_lock(&all_lock);
	}
	spin_unlock(&all_lock);
}

/*
 * Whether an address space is being torn down. Its mappings go last, after its
 * pages.
 */
bool kadapt_ranges_ending(void)
{
	struct kadapt_ranges *ranges;
	bool is_ending = false;

	spin_lock(&all_lock);
	list_for_each_entry(ranges, &all_ranges, all)
		is_ending |= !atomic_read(&ranges->mm->mm_users) &&
			     !mtree_empty(&ranges->mm->mm_mt);
	spin_unlock(&all_lock);
	return is_ending;
}

void kadapt_ranges_query(struct kadapt_query *query)
{
	query->features |= KADAPT_FEATURE_MEMORY;
}

int kadapt_ranges_init(void)
{
	return kadapt_takeback_init();
}

void kadapt_ranges_exit(void)
{
	kadapt_takeback_exit();
}
