// SPDX-License-Identifier: GPL-2.0-only
/*
 * How a file is read: how much is shown at once, what is read ahead, what is
 * dropped behind. What that changes of the open file is undone when it is let
 * go.
 */
#include <linux/fadvise.h>
#include <linux/fs.h>
#include <linux/pagemap.h>
#include <linux/uio.h>

#include "window.h"

/* Of a file of which nothing is known, so much is shown first. */
#define FIRST_PAGES 4
/* So many records are begun to be read ahead at most, at each look. */
#define RECORDS_AHEAD 64

/* Is it what @look asks for? */
bool kadapt_pattern_is(const struct kadapt_pattern *pattern,
		       const struct kadapt_look *look)
{
	return pattern->kind == look->pattern &&
	       pattern->stride == look->stride_bytes &&
	       pattern->record == max_t(u64, look->record_bytes, 1) &&
	       pattern->readahead == look->readahead_bytes &&
	       pattern->drop_behind ==
		       !!(look->flags & KADAPT_LOOK_DROP_BEHIND);
}

static bool is_by_record(const struct kadapt_pattern *pattern)
{
	return pattern->kind == KADAPT_PATTERN_RANDOM ||
	       pattern->kind == KADAPT_PATTERN_STRIDED;
}

static void set_random(struct file *file, bool random)
{
	spin_lock(&file->f_lock);
	if (random)
		file->f_mode |= FMODE_RANDOM;
	else
		file->f_mode &= ~FMODE_RANDOM;
	spin_unlock(&file->f_lock);
}

static unsigned int readahead_for(const struct kadapt_pattern *pattern)
{
	if (pattern->kind != KADAPT_PATTERN_SEQUENTIAL)
		return pattern->saved_readahead;
	if (pattern->readahead)
		return DIV_ROUND_UP(pattern->readahead, PAGE_SIZE);
	return 2 * pattern->saved_readahead;
}

void kadapt_pattern_apply(struct kadapt_pattern *pattern, struct file *file,
			  const struct kadapt_look *look)
{
	*pattern = (struct kadapt_pattern){
		.kind = look->pattern,
		.drop_behind = look->flags & KADAPT_LOOK_DROP_BEHIND,
		.record = max_t(u64, look->record_bytes, 1),
		.stride = look->stride_bytes,
		.readahead = look->readahead_bytes,
		.dropped = round_down(look->offset, PAGE_SIZE),
		.saved_readahead = file->f_ra.ra_pages,
		.saved_random = file->f_mode & FMODE_RANDOM,
	};
	pattern->our_readahead = readahead_for(pattern);
	file->f_ra.ra_pages = pattern->our_readahead;
	if (pattern->kind != KADAPT_PATTERN_ANY)
		set_random(file, is_by_record(pattern));
}

/* Unless the program asked for something else meanwhile. */
void kadapt_pattern_undo(struct kadapt_pattern *pattern, struct file *file)
{
	bool is_random = file->f_mode & FMODE_RANDOM;

	if (pattern->kind == KADAPT_PATTERN_ANY)
		return;
	if (file->f_ra.ra_pages == pattern->our_readahead)
		file->f_ra.ra_pages = pattern->saved_readahead;
	if (is_random == is_by_record(pattern))
		set_random(file, pattern->saved_random);
}

/* Always the same pages for records of the same part of the file. */
static struct kadapt_span span_around(const struct kadapt_pattern *pattern,
				      loff_t offset, unsigned int capacity)
{
	pgoff_t first = offset >> PAGE_SHIFT;
	pgoff_t last = (offset + pattern->record - 1) >> PAGE_SHIFT;
	pgoff_t part = first - first % capacity;

	if (last - part < capacity)
		first = part;
	return (struct kadapt_span){ first, capacity };
}

static struct kadapt_span span_ahead(struct kadapt_pattern *pattern,
				     loff_t offset, unsigned int capacity)
{
	pgoff_t first = offset >> PAGE_SHIFT;
	/* The last page may have been shown in part. */
	bool goes_on = pattern->at_once && first - pattern->next + 1 <= 1;

	pattern->at_once = goes_on ? pattern->at_once * 2 : FIRST_PAGES;
	pattern->at_once = min(pattern->at_once, capacity);
	if (pattern->kind == KADAPT_PATTERN_SEQUENTIAL)
		pattern->at_once = capacity;
	pattern->next = first + pattern->at_once;
	return (struct kadapt_span){ first, pattern->at_once };
}

struct kadapt_span kadapt_pattern_span(struct kadapt_pattern *pattern,
				       loff_t offset, unsigned int capacity)
{
	if (is_by_record(pattern))
		return span_around(pattern, offset, capacity);
	return span_ahead(pattern, offset, capacity);
}

/*
 * The file's own read(2), copying nowhere: with its checks, its locks, its
 * readahead, its time of access.
 */
static int read_through(struct file *file, loff_t from, size_t bytes)
{
	struct iov_iter nowhere;
	ssize_t count;

	iov_iter_discard(&nowhere, ITER_DEST, bytes);
	count = vfs_iter_read(file, &nowhere, &from, 0);
	return count < 0 ? count : count ? 0 : -ENODATA;
}

int kadapt_pattern_read(const struct kadapt_pattern *pattern,
			struct file *file, loff_t offset,
			struct kadapt_span span, bool there)
{
	size_t skip = offset & ~PAGE_MASK;

	if (there || is_by_record(pattern))
		return read_through(file, offset, pattern->record);
	return read_through(file, offset,
			    ((size_t)span.count << PAGE_SHIFT) - skip);
}

void kadapt_pattern_fetch_ahead(const struct kadapt_pattern *pattern,
				struct file *file, loff_t offset)
{
	u64 records = min_t(u64, pattern->readahead / pattern->record,
			    RECORDS_AHEAD);
	loff_t end = i_size_read(file_inode(file));

	if (pattern->kind != KADAPT_PATTERN_STRIDED)
		return;
	for (; records && pattern->stride < end - offset; records--) {
		offset += pattern->stride;
		vfs_fadvise(file, offset, pattern->record,
			    POSIX_FADV_WILLNEED);
	}
}

void kadapt_pattern_drop_behind(struct kadapt_pattern *pattern,
				struct file *file, loff_t offset)
{
	loff_t from = pattern->dropped;
	loff_t end = round_down(offset, PAGE_SIZE);

	pattern->dropped = end;
	if (pattern->drop_behind && from < end)
		vfs_fadvise(file, from, end - from, POSIX_FADV_DONTNEED);
}
