// SPDX-License-Identifier: GPL-2.0-only
/* The regions of a process: to name one, map it, work for it, end it. */
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "client.h"
#include "guard.h"
#include "paths.h"
#include "region.h"
#include "uapi/kadapt.h"

/* A region's place in the device's offsets. */
#define MAP_SHIFT 24

void kadapt_region_get(struct kadapt_region *region)
{
	kref_get(&region->refs);
}

static void region_free(struct kref *refs)
{
	struct kadapt_region *region =
		container_of(refs, struct kadapt_region, refs);

	mmdrop(region->mm);
	kadapt_client_put(region->client);
	kadapt_path_free(region);
	module_put(THIS_MODULE);
}

void kadapt_region_put(struct kadapt_region *region)
{
	kref_put(&region->refs, region_free);
}

static void work(struct work_struct *queued)
{
	struct kadapt_region *region =
		container_of(queued, struct kadapt_region, work);

	if (test_and_clear_bit(KADAPT_REQUEST_END, &region->requests))
		kadapt_path_end(region);
	kadapt_path_work(region);
	kadapt_region_put(region);
}

void kadapt_region_init(struct kadapt_region *region,
			struct kadapt_client *client)
{
	/* Its work may outlive the open file that holds the module. */
	__module_get(THIS_MODULE);
	kref_init(&region->refs);
	region->client = kadapt_client_get(client);
	region->mm = current->mm;
	mmgrab(region->mm);
	INIT_WORK(&region->work, work);
}

int kadapt_region_publish(struct kadapt_region *region)
{
	int error = kadapt_client_employ(region->client) ?:
		    xa_alloc(&region->client->regions, &region->number, region,
			     XA_LIMIT(0, KADAPT_REGIONS - 1),
			     GFP_KERNEL_ACCOUNT);

	if (error)
		kadapt_region_put(region);
	return error == -EBUSY ? -EMFILE : error;
}

u64 kadapt_region_map_offset(const struct kadapt_region *region)
{
	return (u64)region->number << MAP_SHIFT;
}

static struct kadapt_region *find(struct kadapt_client *client,
				  unsigned long number)
{
	struct kadapt_region *region;

	xa_lock(&client->regions);
	region = xa_load(&client->regions, number);
	if (region)
		kadapt_region_get(region);
	xa_unlock(&client->regions);
	return region;
}

struct kadapt_region *kadapt_region_find(struct kadapt_client *client,
					 unsigned long number)
{
	struct kadapt_region *region = find(client, number);

	if (!region)
		return ERR_PTR(-ENOENT);
	/* exec() keeps the process but not its memory. */
	if (region->mm == current->mm)
		return region;
	kadapt_region_put(region);
	return ERR_PTR(-EPERM);
}

void kadapt_region_queue(struct kadapt_region *region)
{
	kadapt_region_get(region);
	if (!queue_work(region->client->worker, &region->work))
		kadapt_region_put(region);
}

void kadapt_region_request(struct kadapt_region *region, unsigned int request)
{
	set_bit(request, &region->requests);
	kadapt_region_queue(region);
}

void kadapt_region_finish(struct kadapt_region *region)
{
	kadapt_region_queue(region);
	flush_work(&region->work);
}

void kadapt_region_forget(struct kadapt_region *region)
{
	if (xa_cmpxchg(&region->client->regions, region->number, region, NULL,
		       0) == region)
		kadapt_region_put(region);
}

/* Not a child's, which has memory of its own there. */
static bool is_program(const struct vm_area_struct *vma)
{
	const struct kadapt_region *region = vma->vm_private_data;

	return vma->vm_mm == region->mm;
}

/* By fork(2); by mremap(2), before that asks whether a mapping may be moved. */
static void copied(struct vm_area_struct *vma)
{
	struct kadapt_region *region = vma->vm_private_data;

	kadapt_region_get(region);
	if (is_program(vma))
		atomic_inc(&region->mappings);
}

static void unmapped(struct vm_area_struct *vma)
{
	struct kadapt_region *region = vma->vm_private_data;

	/*
	 * mmap_lock is held, under which no file can be written: a write may
	 * fault, and takes it then.
	 */
	if (is_program(vma) && atomic_dec_and_test(&region->mappings))
		kadapt_region_request(region, KADAPT_REQUEST_END);
	kadapt_region_put(region);
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
 * A child that was forked in the midst of an append goes on with it. It must not
 * reach the ring, in which the parent's append goes on, too.
 */
static vm_fault_t faulted(struct vm_fault *fault)
{
	struct vm_area_struct *vma = fault->vma;
	unsigned long number = (fault->address - vma->vm_start) >> PAGE_SHIFT;

	if (is_program(vma))
		fault->page = kadapt_path_page(vma->vm_private_data, number);
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

static int map(struct kadapt_region *region, struct vm_area_struct *vma)
{
	int error;

	if (vma->vm_end - vma->vm_start != kadapt_path_map_bytes(region) ||
	    !(vma->vm_flags & VM_SHARED) ||
	    atomic_cmpxchg(&region->mappings, 0, 1))
		return -EINVAL;
	vm_flags_set(vma, VM_IO | VM_DONTEXPAND | VM_DONTDUMP);
	error = kadapt_path_map(region, vma);
	if (error) {
		atomic_set(&region->mappings, 0);
		return error;
	}
	kadapt_region_get(region);
	vma->vm_private_data = region;
	vma->vm_ops = &mapping_operations;
	return 0;
}

int kadapt_regions_map(struct kadapt_client *client,
		       struct vm_area_struct *vma)
{
	unsigned long shift = MAP_SHIFT - PAGE_SHIFT;
	struct kadapt_region *region;
	int error;

	if (vma->vm_pgoff & ((1UL << shift) - 1))
		return -ENXIO;
	region = kadapt_region_find(client, vma->vm_pgoff >> shift);
	if (IS_ERR(region))
		return PTR_ERR(region) == -ENOENT ? -ENXIO : PTR_ERR(region);
	error = map(region, vma);
	kadapt_region_put(region);
	return error;
}

/* The owner closes the device or dies: everything leaves its rings. */
void kadapt_regions_close(struct kadapt_client *client)
{
	struct kadapt_region *region;
	unsigned long number;

	xa_for_each(&client->regions, number, region) {
		region = find(client, number);
		if (!region)
			continue;
		kadapt_path_end(region);
		kadapt_region_forget(region);
		kadapt_region_put(region);
	}
}

int kadapt_regions_init(void)
{
	BUILD_BUG_ON(KADAPT_RING_MAX * 2 + PAGE_SIZE > 1UL << MAP_SHIFT);
	return kadapt_clients_init();
}

/* Waits for the last region's work, which may be returning from our code. */
void kadapt_regions_exit(void)
{
	kadapt_clients_exit();
	kadapt_guards_exit();
}
