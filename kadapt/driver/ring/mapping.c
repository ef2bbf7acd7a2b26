// SPDX-License-Identifier: GPL-2.0-only
/* The program's mapping of a ring: mmap(2), fork(2), munmap(2). */
#include <linux/mm.h>

#include "ring/ring.h"
#include "ring/rings.h"

/* A ring's number is in the offset from this bit on. */
#define MAP_SHIFT 24

u64 kadapt_ring_map_offset(const struct kadapt_ring *ring)
{
	return (u64)ring->number << MAP_SHIFT;
}

/* Whether the mapping is the program's: a child's mapping has other pages. */
static bool is_program(const struct vm_area_struct *vma)
{
	const struct kadapt_ring *ring = vma->vm_private_data;

	return vma->vm_mm == ring->mm;
}

/* fork(2) copies the mapping; mremap(2) does before it calls moved(). */
static void copied(struct vm_area_struct *vma)
{
	struct kadapt_ring *ring = vma->vm_private_data;

	kadapt_ring_get(ring);
	if (is_program(vma))
		atomic_inc(&ring->mappings);
}

static void unmapped(struct vm_area_struct *vma)
{
	struct kadapt_ring *ring = vma->vm_private_data;

	/*
	 * The caller holds mmap_lock. A write to the file may fault and take
	 * mmap_lock itself, so the worker unbinds the ring.
	 */
	if (is_program(vma) && atomic_dec_and_test(&ring->mappings))
		kadapt_ring_request(ring, KADAPT_REQUEST_END);
	kadapt_ring_put(ring);
}

static int may_split(struct vm_area_struct *vma, unsigned long address)
{
	return -EINVAL;
}

static int moved(struct vm_area_struct *vma)
{
	return -EINVAL;
}

/*
 * A child that was forked during an append continues that append, and so does
 * the parent. The child gets a page of zeroes, so that it can't reach the ring.
 */
static vm_fault_t faulted(struct vm_fault *fault)
{
	struct vm_area_struct *vma = fault->vma;
	const struct kadapt_ring *ring = vma->vm_private_data;
	unsigned long number = (fault->address - vma->vm_start) >> PAGE_SHIFT;

	if (is_program(vma))
		fault->page = kadapt_ring_memory_page(&ring->memory, number);
	else
		fault->page = alloc_page(GFP_HIGHUSER | __GFP_ZERO |
					 __GFP_ACCOUNT);
	return fault->page ? 0 : VM_FAULT_OOM;
}

static const struct vm_operations_struct mapping_operations = {
	.open = copied,
	.close = unmapped,
	.may_split = may_split,
	.mremap = moved,
	.fault = faulted,
};

static int map(struct kadapt_ring *ring, struct vm_area_struct *vma)
{
	size_t bytes = kadapt_ring_memory_map_bytes(ring->memory.bytes);
	int error;

	if (vma->vm_end - vma->vm_start != bytes ||
	    !(vma->vm_flags & VM_SHARED) ||
	    atomic_cmpxchg(&ring->mappings, 0, 1))
		return -EINVAL;
	vm_flags_set(vma, VM_IO | VM_DONTEXPAND | VM_DONTDUMP);
	error = kadapt_ring_memory_map(&ring->memory, vma);
	if (error) {
		atomic_set(&ring->mappings, 0);
		return error;
	}
	kadapt_ring_get(ring);
	vma->vm_private_data = ring;
	vma->vm_ops = &mapping_operations;
	return 0;
}

int kadapt_rings_map(struct kadapt_client *client, struct vm_area_struct *vma)
{
	unsigned long shift = MAP_SHIFT - PAGE_SHIFT;
	struct kadapt_ring *ring;
	int error;

	BUILD_BUG_ON(KADAPT_RING_MAX * 2 + PAGE_SIZE > 1UL << MAP_SHIFT);
	if (vma->vm_pgoff & ((1UL << shift) - 1))
		return -ENXIO;
	ring = kadapt_ring_find(client, vma->vm_pgoff >> shift);
	if (IS_ERR(ring))
		return PTR_ERR(ring) == -ENOENT ? -ENXIO : PTR_ERR(ring);
	error = map(ring, vma);
	kadapt_ring_put(ring);
	return error;
}
