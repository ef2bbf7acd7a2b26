/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A region: memory of the device's that a process makes, names by a number and
 * maps, as it does a ring (path.h). Here are the table of a process's regions, who
 * may use them, the mapping, the worker, the end.
 *
 * Lifetime. A region is referred to by its client's table, by the mappings, by
 * work that is queued, and by the path's binding. It ends when the process unmaps
 * it, or closes the device: the path then lets go of its file, and the table
 * forgets it. kadapt_path_free() is called with the last reference.
 */
#ifndef _KADAPT_REGION_H
#define _KADAPT_REGION_H

#include <linux/atomic.h>
#include <linux/kref.h>
#include <linux/mm_types.h>
#include <linux/workqueue.h>

/* A process can have so many. */
#define KADAPT_REGIONS 256

struct kadapt_client;
struct kadapt_region;
struct user_struct;

struct kadapt_region {
	struct kref refs;
	struct kadapt_client *client;
	struct mm_struct *mm;		/* of the program; not its users */
	u32 number;			/* in client->regions */
	atomic_t mappings;		/* of the program: 1, but for a moment */
	unsigned long requests;		/* KADAPT_REQUEST_*, atomic */
	struct work_struct work;
};

/* The mapping is gone. */
#define KADAPT_REQUEST_END	0

/* First of all, by the program's process. */
void kadapt_region_init(struct kadapt_region *region,
			struct kadapt_client *client);
/* Last of all: the table takes over the reference, also when it fails. */
int kadapt_region_publish(struct kadapt_region *region);
u64 kadapt_region_map_offset(const struct kadapt_region *region);

void kadapt_region_get(struct kadapt_region *region);
void kadapt_region_put(struct kadapt_region *region);
/* By its number, with a reference. */
struct kadapt_region *kadapt_region_find(struct kadapt_client *client,
					 unsigned long number);
/* From any context; the caller knows that the region lives. */
void kadapt_region_queue(struct kadapt_region *region);
void kadapt_region_request(struct kadapt_region *region,
			   unsigned int request);
/* Let a kernel thread work, which no signal of ours interrupts, and wait. */
void kadapt_region_finish(struct kadapt_region *region);
/* The program can't name it any more. */
void kadapt_region_forget(struct kadapt_region *region);

/* path.c, drainer.c: what a ring does */
size_t kadapt_path_map_bytes(const struct kadapt_region *region);
/* Set up the mapping, which is as long as that. */
int kadapt_path_map(struct kadapt_region *region, struct vm_area_struct *vma);
/* The page of this number in the mapping, with a reference. */
struct page *kadapt_path_page(struct kadapt_region *region,
			      unsigned long number);
/* In the worker, after kadapt_region_queue(). */
void kadapt_path_work(struct kadapt_region *region);
/* Let go of the file. */
void kadapt_path_end(struct kadapt_region *region);
void kadapt_path_free(struct kadapt_region *region);

/* Count pages against the user's RLIMIT_MEMLOCK, as io_uring does. */
struct user_struct *kadapt_charge(unsigned int pages);
void kadapt_uncharge(struct user_struct *user, unsigned int pages);

#endif /* _KADAPT_REGION_H */
