/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A region: memory of the device's that a process makes, names by a number and
 * maps. Rings and windows are kinds of it; what they have in common is here: the
 * table of a process's regions, who may use them, the mapping, the worker, the
 * end.
 *
 * Lifetime. A region is referred to by its client's table, by the mapping, by
 * work that is queued, and by its kind where that says so. It ends when it is
 * unmapped, or the device closed: its kind then lets go of what it holds, and
 * the table forgets it. kind->free() is called with the last reference.
 */
#ifndef _KADAPT_REGION_H
#define _KADAPT_REGION_H

#include <linux/atomic.h>
#include <linux/kref.h>
#include <linux/mm_types.h>
#include <linux/workqueue.h>

/* A process can have so many. */
#define KADAPT_REGIONS 256

/* How long an exit waits for the other end of streams. */
#define KADAPT_EXIT_PATIENCE_NS	(1 * NSEC_PER_SEC)

struct kadapt_client;
struct kadapt_region;
struct user_struct;

struct kadapt_region_kind {
	size_t (*map_bytes)(const struct kadapt_region *region);
	/* Set up the mapping, which is as long as that. */
	int (*map)(struct kadapt_region *region, struct vm_area_struct *vma);
	/* Where map() left pages out. */
	vm_fault_t (*fault)(struct kadapt_region *region,
			    struct vm_fault *fault);
	/* In the worker, after kadapt_region_queue(). */
	void (*work)(struct kadapt_region *region);
	/* Let go; false: the other end of a stream is waited for, if @patient. */
	bool (*end)(struct kadapt_region *region, bool patient);
	void (*free)(struct kadapt_region *region);
};

struct kadapt_region {
	const struct kadapt_region_kind *kind;
	struct kref refs;
	struct kadapt_client *client;
	struct mm_struct *mm;		/* of the program; not its users */
	u32 number;			/* in client->regions */
	atomic_t mappings;		/* 1, but for a moment */
	unsigned long requests;		/* KADAPT_REQUEST_*, atomic */
	struct work_struct work;
};

/* The mapping is gone. Bits above are the kind's. */
#define KADAPT_REQUEST_END	0
#define KADAPT_REQUEST_KIND	1

/* First of all, by the program's process. */
void kadapt_region_init(struct kadapt_region *region,
			const struct kadapt_region_kind *kind,
			struct kadapt_client *client);
/* Last of all: the table takes over the reference, also when it fails. */
int kadapt_region_publish(struct kadapt_region *region);
u64 kadapt_region_map_offset(const struct kadapt_region *region);

void kadapt_region_get(struct kadapt_region *region);
void kadapt_region_put(struct kadapt_region *region);
/* By its number, with a reference; -ENOENT if it is of another kind than @kind. */
struct kadapt_region *kadapt_region_find(struct kadapt_client *client,
					 unsigned long number,
					 const struct kadapt_region_kind *kind);
/* From any context; the caller knows that the region lives. */
void kadapt_region_queue(struct kadapt_region *region);
void kadapt_region_request(struct kadapt_region *region,
			   unsigned int request);
/* Let a kernel thread work, which no signal of ours interrupts, and wait. */
void kadapt_region_finish(struct kadapt_region *region);
/* The program can't name it any more. */
void kadapt_region_forget(struct kadapt_region *region);

/* Count pages against the user's RLIMIT_MEMLOCK, as io_uring does. */
struct user_struct *kadapt_charge(unsigned int pages);
void kadapt_uncharge(struct user_struct *user, unsigned int pages);

#endif /* _KADAPT_REGION_H */
