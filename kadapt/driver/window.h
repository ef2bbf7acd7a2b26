/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A window: pages of a file, as the kernel has them in memory, mapped by the
 * program while a read lease is held. Shared by the files that make it up:
 * window.c (the calls, to bind and to let go), view.c (what is shown),
 * pattern.c (readahead).
 *
 * How the program knows. As a sequence lock's reader: it copies, then looks
 * whether the generation is still the one it was given. We change the generation
 * first, then return the lease, and only then can a writer get at the pages. Who
 * copied what a writer wrote therefore sees the new generation; no processor
 * needs to be interrupted for that. When the pages leave the mapping does not
 * matter to the program, so the lease never waits for the program's mmap_lock.
 *
 * Lifetime of the pages. Each has a reference from before it is mapped until
 * after it is unmapped; so a page that is truncated meanwhile is nobody else's
 * as long as the program sees it. What is mapped without a page of the file, the
 * page of zeros, needs none.
 *
 * Locking, outermost first: reader.lock, mmap_lock of the program,
 * view.lock. reader.lock is held while a file is read. mmap_lock is only tried
 * for, as a program can hold it for as long as it likes; the worker only tries for
 * reader.lock, as it works for other programs, too. A fault takes view.lock, below
 * mmap_lock.
 */
#ifndef _KADAPT_WINDOW_H
#define _KADAPT_WINDOW_H

#include <linux/mutex.h>
#include <linux/timer.h>
#include <linux/types.h>

#include "lease.h"
#include "region.h"
#include "uapi/kadapt.h"

struct address_space;
struct file;
struct page;

/* A piece of a file, in pages. */
struct kadapt_span {
	pgoff_t first;
	unsigned int count;
};

/* What the mapping shows. */
struct kadapt_view {
	struct kadapt_region *region;
	struct kadapt_window_header *header;
	unsigned int capacity;		/* pages of data */
	unsigned long address;		/* of the mapping; under mmap_lock */
	struct page **pages;		/* count of them are set */

	struct mutex lock;		/* what follows, and all that is mapped */
	unsigned int count;
	bool has_zeros;			/* the page of zeros is mapped, too */
};

/* How the file is read, and what that replaced. */
struct kadapt_pattern {
	u32 kind;			/* KADAPT_PATTERN_* */
	bool drop_behind;
	size_t record;			/* bytes; at least 1 */
	u64 stride;
	size_t readahead;
	pgoff_t next;			/* where the last look ended */
	loff_t dropped;			/* what lies before was dropped */
	unsigned int at_once;		/* KADAPT_PATTERN_ANY: pages */
	unsigned int saved_readahead;	/* the file's, in pages */
	unsigned int our_readahead;
	bool saved_random;
};

/* A window, and the file it is bound to. */
struct kadapt_reader {
	struct kadapt_region region;
	struct user_struct *user;	/* whose RLIMIT_MEMLOCK it counts against */
	struct kadapt_view view;
	struct timer_list timer;	/* runs while in use */
	unsigned long looked_at;	/* jiffies; the timer reads it */
	unsigned long delay;		/* jiffies; the timer reads it */
	bool ended;			/* set without the lock */

	struct mutex lock;		/* all that follows */
	bool in_use;			/* bound, or not yet emptied: refers to us */
	struct file *file;		/* NULL: not bound; the timer reads it */
	struct kadapt_lease lease;
	struct kadapt_pattern pattern;
};

/* view.c; with reader.lock held, but for kadapt_view_fault() */
int kadapt_view_create(struct kadapt_view *view, unsigned int capacity);
void kadapt_view_destroy(struct kadapt_view *view);
vm_fault_t kadapt_view_fault(struct kadapt_view *view, struct vm_fault *fault);
/* What is shown counts for nothing from here on. */
void kadapt_view_withdraw(struct kadapt_view *view);
/* Unmap it; false: the program's memory is busy. */
bool kadapt_view_empty(struct kadapt_view *view);
/*
 * Take, of @span of the file, what is in memory without a gap around the page
 * @around. Returns what that is.
 */
struct kadapt_span kadapt_view_collect(struct kadapt_view *view,
				       struct address_space *mapping,
				       struct kadapt_span span,
				       pgoff_t around);
/* Does one of the pages collected ask for readahead? */
bool kadapt_view_asks_for_more(const struct kadapt_view *view,
			       unsigned int count);
/* Let go of what was collected. */
void kadapt_view_discard(struct kadapt_view *view, unsigned int count);
/* Map what was collected; -EBUSY if the program's memory is busy. */
int kadapt_view_show(struct kadapt_view *view, unsigned int count);

/* pattern.c */
bool kadapt_pattern_is(const struct kadapt_pattern *pattern,
		       const struct kadapt_look *look);
void kadapt_pattern_apply(struct kadapt_pattern *pattern, struct file *file,
			  const struct kadapt_look *look);
void kadapt_pattern_undo(struct kadapt_pattern *pattern, struct file *file);
struct kadapt_span kadapt_pattern_span(struct kadapt_pattern *pattern,
				       loff_t offset, unsigned int capacity);
/*
 * Have in memory what is to be shown of the span. As each look counts as a read,
 * something is read also if all of it is @there.
 */
int kadapt_pattern_read(const struct kadapt_pattern *pattern,
			struct file *file, loff_t offset,
			struct kadapt_span span, bool there);
void kadapt_pattern_fetch_ahead(const struct kadapt_pattern *pattern,
				struct file *file, loff_t offset);
void kadapt_pattern_drop_behind(struct kadapt_pattern *pattern,
				struct file *file, loff_t offset);

#endif /* _KADAPT_WINDOW_H */
