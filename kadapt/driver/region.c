// SPDX-License-Identifier: GPL-2.0-only
/* The regions of a process: to name one, map it, work for it, end it. */
#include <linux/delay.h>
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
/* Between two looks whether the other ends took what is left at the exit. */
#define EXIT_LOOK_MS 5

static struct workqueue_struct *worker;

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
	region->kind->free(region);
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

	if (test_and_clear_bit(KADAPT_REQUEST_END, &region->requests) &&
	    region->kind->end(region, true))
		kadapt_region_forget(region);
	region->kind->work(region);
	kadapt_region_put(region);
}

void kadapt_region_init(struct kadapt_region *region,
			const struct kadapt_region_kind *kind,
			struct kadapt_client *client)
{
	/* Its work may outlive the open file that holds the module. */
	__module_get(THIS_MODULE);
	kref_init(&region->refs);
	region->kind = kind;
	region->client = kadapt_client_get(client);
	region->mm = current->mm;
	mmgrab(region->mm);
	INIT_WORK(&region->work, work);
}

int kadapt_region_publish(struct kadapt_region *region)
{
	int error = xa_alloc(&region->client->regions, &region->number, region,
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

/* Any kind, if @kind is NULL. */
struct kadapt_region *kadapt_region_find(struct kadapt_client *client,
					 unsigned long number,
					 const struct kadapt_region_kind *kind)
{
	struct kadapt_region *region = find(client, number);
	int error = 0;

	if (!region)
		return ERR_PTR(-ENOENT);
	/* exec() keeps the process but not its memory. */
	if (region->mm != current->mm)
		error = -EPERM;
	else if (kind && region->kind != kind)
		error = -ENOENT;
	if (!error)
		return region;
	kadapt_region_put(region);
	return ERR_PTR(error);
}

void kadapt_region_queue(struct kadapt_region *region)
{
	kadapt_region_get(region);
	if (!queue_work(worker, &region->work))
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

/* mremap() copies a mapping before it asks whether that may be moved. */
static void copied(struct vm_area_struct *vma)
{
	struct kadapt_region *region = vma->vm_private_data;

	kadapt_region_get(region);
	atomic_inc(&region->mappings);
}

static void unmapped(struct vm_area_struct *vma)
{
	struct kadapt_region *region = vma->vm_private_data;

	/*
	 * mmap_lock is held, under which no file can be written: a write may
	 * fault, and takes it then.
	 */
	if (atomic_dec_and_test(&region->mappings))
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

static vm_fault_t faulted(struct vm_fault *fault)
{
	struct kadapt_region *region = fault->vma->vm_private_data;

	if (!region->kind->fault)
		return VM_FAULT_SIGBUS;
	return region->kind->fault(region, fault);
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

	if (vma->vm_end - vma->vm_start != region->kind->map_bytes(region) ||
	    !(vma->vm_flags & VM_SHARED) ||
	    atomic_cmpxchg(&region->mappings, 0, 1))
		return -EINVAL;
	/* VM_IO: not even madvise() gives it to a child. */
	vm_flags_set(vma, VM_IO | VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP);
	error = region->kind->map(region, vma);
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
	region = kadapt_region_find(client, vma->vm_pgoff >> shift, NULL);
	if (IS_ERR(region))
		return PTR_ERR(region) == -ENOENT ? -ENXIO : PTR_ERR(region);
	error = map(region, vma);
	kadapt_region_put(region);
	return error;
}

static bool end_all(struct kadapt_client *client, bool patient)
{
	struct kadapt_region *region;
	unsigned long number;
	bool all = true;

	xa_for_each(&client->regions, number, region) {
		bool ended;

		region = find(client, number);
		if (!region)
			continue;
		ended = region->kind->end(region, patient);
		if (ended)
			kadapt_region_forget(region);
		all &= ended;
		kadapt_region_put(region);
	}
	return all;
}

/* The owner closes the device or dies: everything leaves its rings. */
void kadapt_regions_close(struct kadapt_client *client)
{
	u64 patience_ends = ktime_get_ns() + KADAPT_EXIT_PATIENCE_NS;

	while (!end_all(client, ktime_get_ns() < patience_ends))
		msleep(EXIT_LOOK_MS);
}

/* The file is gone, perhaps in a thread that others wait for. */
void kadapt_regions_release(struct kadapt_client *client)
{
	end_all(client, false);
}

int kadapt_regions_init(void)
{
	BUILD_BUG_ON(KADAPT_RING_MAX * 2 + PAGE_SIZE > 1UL << MAP_SHIFT);
	BUILD_BUG_ON(KADAPT_WINDOW_MAX + PAGE_SIZE > 1UL << MAP_SHIFT);
	worker = alloc_workqueue("kadapt", WQ_UNBOUND | WQ_HIGHPRI |
				 WQ_MEM_RECLAIM, 0);
	return worker ? 0 : -ENOMEM;
}

/* Waits for the last region's work, which may be returning from our code. */
void kadapt_regions_exit(void)
{
	destroy_workqueue(worker);
	kadapt_guards_exit();
}
