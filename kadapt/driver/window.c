// SPDX-License-Identifier: GPL-2.0-only
/* Windows: to make one, bind it to a file by looking, let that go. */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/shmem_fs.h>
#include <linux/slab.h>

#include "client.h"
#include "compat.h"
#include "paths.h"
#include "window.h"

/* So often per delay the timer looks whether the file can be let go. */
#define LOOKS_PER_DELAY 8
/* Until the next try to empty a window whose program holds mmap_lock. */
#define RETRY_MS 10

/* The lease is broken, or the time is over. */
#define REQUEST_LET_GO KADAPT_REQUEST_KIND

static struct kadapt_reader *reader_of(struct kadapt_region *region)
{
	return container_of(region, struct kadapt_reader, region);
}

static bool is_idle(const struct kadapt_reader *reader)
{
	return time_after_eq(jiffies, READ_ONCE(reader->looked_at) +
				      READ_ONCE(reader->delay));
}

/* Only ours is left: the program closed its descriptor without our knowing. */
static bool is_abandoned(struct file *file)
{
	return file_count(file) == 1;
}

/* The file stays while the timer runs. */
static void tick(struct timer_list *timer)
{
	struct kadapt_reader *reader = timer_container_of(reader, timer, timer);
	struct file *file = READ_ONCE(reader->file);

	if (!file || is_idle(reader) || is_abandoned(file))
		kadapt_region_request(&reader->region, REQUEST_LET_GO);
	else
		mod_timer(timer, jiffies + 1 +
				 READ_ONCE(reader->delay) / LOOKS_PER_DELAY);
}

static void lease_broken(struct kadapt_lease *lease)
{
	struct kadapt_reader *reader =
		container_of(lease, struct kadapt_reader, lease);

	kadapt_region_request(&reader->region, REQUEST_LET_GO);
}

static void unbind(struct kadapt_reader *reader)
{
	struct file *file = reader->file;

	kadapt_view_withdraw(&reader->view);
	kadapt_lease_return(&reader->lease);
	kadapt_pattern_undo(&reader->pattern, file);
	timer_delete_sync(&reader->timer);
	WRITE_ONCE(reader->file, NULL);
	fput(file);
}

/*
 * The program's memory may be busy: then the timer asks for another try, which
 * is soon enough, as the lease is returned already.
 */
static void let_go(struct kadapt_reader *reader)
{
	if (reader->file)
		unbind(reader);
	if (!reader->in_use)
		return;
	if (!kadapt_view_empty(&reader->view)) {
		mod_timer(&reader->timer, jiffies + msecs_to_jiffies(RETRY_MS));
		return;
	}
	timer_delete_sync(&reader->timer);
	reader->in_use = false;
	/* Never the last: who holds the lock came by another reference. */
	kadapt_region_put(&reader->region);
}

/* If the program looks just now, it asks for the work again when it has done. */
static void window_work(struct kadapt_region *region)
{
	struct kadapt_reader *reader = reader_of(region);

	if (!mutex_trylock(&reader->lock))
		return;
	if (test_and_clear_bit(REQUEST_LET_GO, &region->requests))
		let_go(reader);
	mutex_unlock(&reader->lock);
}

static void look_ends(struct kadapt_reader *reader)
{
	mutex_unlock(&reader->lock);
	/* Pairs with the request, whose work may have found it locked. */
	smp_mb();
	if (test_bit(REQUEST_LET_GO, &reader->region.requests))
		kadapt_region_queue(&reader->region);
}

static bool window_end(struct kadapt_region *region, bool patient)
{
	struct kadapt_reader *reader = reader_of(region);

	WRITE_ONCE(reader->ended, true);
	if (current->flags & PF_KTHREAD) {
		kadapt_region_request(region, REQUEST_LET_GO);
		return true;
	}
	mutex_lock(&reader->lock);
	let_go(reader);
	look_ends(reader);
	return true;
}

static void window_free(struct kadapt_region *region)
{
	struct kadapt_reader *reader = reader_of(region);

	kadapt_uncharge(reader->user, 1 + reader->view.capacity);
	kadapt_view_destroy(&reader->view);
	mutex_destroy(&reader->lock);
	kfree(reader);
}

static size_t window_map_bytes(const struct kadapt_region *region)
{
	const struct kadapt_reader *reader =
		container_of(region, struct kadapt_reader, region);

	return (1 + (size_t)reader->view.capacity) << PAGE_SHIFT;
}

static int window_map(struct kadapt_region *region, struct vm_area_struct *vma)
{
	if (vma->vm_flags & (VM_WRITE | VM_EXEC))
		return -EACCES;
	vm_flags_mod(vma, VM_PFNMAP, VM_MAYWRITE | VM_MAYEXEC);
	reader_of(region)->view.address = vma->vm_start;
	return 0;
}

static vm_fault_t window_fault(struct kadapt_region *region,
			       struct vm_fault *fault)
{
	return kadapt_view_fault(&reader_of(region)->view, fault);
}

static const struct kadapt_region_kind window_kind = {
	.map_bytes = window_map_bytes,
	.map = window_map,
	.fault = window_fault,
	.work = window_work,
	.end = window_end,
	.free = window_free,
};

static int check_size(const struct kadapt_window *window)
{
	if (window->flags || window->bytes & ~PAGE_MASK)
		return -EINVAL;
	if (window->bytes < PAGE_SIZE || window->bytes > KADAPT_WINDOW_MAX)
		return -ERANGE;
	return 0;
}

static struct kadapt_reader *reader_create(struct kadapt_client *client,
					   unsigned int pages)
{
	struct kadapt_reader *reader = kzalloc(sizeof(*reader),
					       GFP_KERNEL_ACCOUNT);

	if (!reader)
		return NULL;
	reader->user = kadapt_charge(1 + pages);
	if (!reader->user) {
		kfree(reader);
		return NULL;
	}
	if (kadapt_view_create(&reader->view, pages)) {
		kadapt_uncharge(reader->user, 1 + pages);
		kadapt_view_destroy(&reader->view);
		kfree(reader);
		return NULL;
	}
	kadapt_region_init(&reader->region, &window_kind, client);
	reader->view.region = &reader->region;
	reader->lease.broken = lease_broken;
	mutex_init(&reader->lock);
	timer_setup(&reader->timer, tick, 0);
	return reader;
}

static void describe_window(const struct kadapt_reader *reader,
			    struct kadapt_window *window)
{
	window->number = reader->region.number;
	window->data_offset = PAGE_SIZE;
	window->map_offset = kadapt_region_map_offset(&reader->region);
	window->map_bytes = window_map_bytes(&reader->region);
}

int kadapt_windows_create(struct kadapt_client *client,
			  struct kadapt_window *window)
{
	struct kadapt_reader *reader;
	int error;

	if (!window->bytes)
		window->bytes = KADAPT_WINDOW_DEFAULT;
	error = check_size(window);
	if (error)
		return error;
	reader = reader_create(client, window->bytes >> PAGE_SHIFT);
	if (!reader)
		return -ENOMEM;
	/* As soon as it has a number, another thread may end it. */
	kadapt_region_get(&reader->region);
	error = kadapt_region_publish(&reader->region);
	if (!error)
		describe_window(reader, window);
	kadapt_region_put(&reader->region);
	return error;
}

/* Do others have the open file, besides the caller's table and us? */
static bool is_shared(const struct kadapt_reader *reader, struct file *file)
{
	/* The call's own reference counts, too. */
	return file_count(file) > (reader->file == file ? 3 : 2);
}

/* Its pages are what read(2) copies, and to read has no other effect. */
static bool is_read_from_memory(const struct file *file)
{
	struct address_space *mapping = file->f_mapping;

	if (!mapping->a_ops->read_folio && !shmem_mapping(mapping))
		return false;
	/* sysfs and its like only look as if they had pages. */
	return file->f_op->read_iter && file->f_op->splice_read &&
	       file->f_op->splice_read != copy_splice_read &&
	       !IS_DAX(mapping->host);
}

static int check_file(const struct file *file)
{
	if (!(file->f_mode & FMODE_READ))
		return -EBADF;
	if (!S_ISREG(file_inode(file)->i_mode) || !is_read_from_memory(file))
		return -EMEDIUMTYPE;
	if (file->f_flags & O_DIRECT)
		return -EBADFD;
	return 0;
}

/* From here on the file is ours until it is let go. */
static int bind(struct kadapt_reader *reader, struct file *file,
		const struct kadapt_look *look)
{
	int error = check_file(file);

	if (error)
		return error;
	clear_bit(REQUEST_LET_GO, &reader->region.requests);
	/* Before the end is looked for, which asks for it after it set that. */
	smp_mb__after_atomic();
	if (READ_ONCE(reader->ended))
		return -ENOENT;
	error = kadapt_lease_take_shared(&reader->lease, file);
	if (error)
		return error;
	WRITE_ONCE(reader->file, get_file(file));
	kadapt_pattern_apply(&reader->pattern, file, look);
	if (!reader->in_use)
		kadapt_region_get(&reader->region);
	reader->in_use = true;
	return 0;
}

/* A pattern is the open file's: two at a time could not both be undone. */
static bool may_be_shared(const struct kadapt_look *look)
{
	return look->pattern == KADAPT_PATTERN_ANY &&
	       !(look->flags & KADAPT_LOOK_UNSHARED);
}

static int rebind(struct kadapt_reader *reader, struct file *file,
		  const struct kadapt_look *look)
{
	if (!may_be_shared(look) && is_shared(reader, file))
		return -ENOTUNIQ;
	if (reader->file == file && kadapt_pattern_is(&reader->pattern, look))
		return 0;
	let_go(reader);
	return bind(reader, file, look);
}

static void start_timer(struct kadapt_reader *reader, u64 delay_ns)
{
	WRITE_ONCE(reader->looked_at, jiffies);
	WRITE_ONCE(reader->delay, nsecs_to_jiffies(delay_ns));
	if (!timer_pending(&reader->timer))
		mod_timer(&reader->timer, jiffies + 1 +
					  reader->delay / LOOKS_PER_DELAY);
}

/* What is shown of the file; its end may lie before the last page's. */
static void describe(const struct kadapt_reader *reader,
		     struct kadapt_span shown, struct kadapt_look *look)
{
	loff_t size = i_size_read(file_inode(reader->file));

	look->start = (u64)shown.first << PAGE_SHIFT;
	look->end = (u64)(shown.first + shown.count) << PAGE_SHIFT;
	look->end = min_t(u64, look->end, size);
	look->generation = reader->view.header->generation;
}

/* No more of it than the file has; but the page of the offset in any case. */
static struct kadapt_span cut_to_file(struct kadapt_span span,
				      const struct file *file, loff_t offset)
{
	pgoff_t pages = DIV_ROUND_UP(i_size_read(file_inode(file)), PAGE_SIZE);
	pgoff_t end = max(pages, (pgoff_t)(offset >> PAGE_SHIFT) + 1);

	span.count = min_t(pgoff_t, span.count, end - span.first);
	return span;
}

/*
 * Collect what is to be shown. Mostly it is in memory, and not worth reading to
 * the end to find that out.
 */
static int collect(struct kadapt_reader *reader, loff_t offset,
		   struct kadapt_span *span)
{
	struct kadapt_view *view = &reader->view;
	struct address_space *mapping = reader->file->f_mapping;
	pgoff_t around = offset >> PAGE_SHIFT;
	struct kadapt_span found =
		kadapt_view_collect(view, mapping, *span, around);
	bool there = found.count == span->count &&
		     !kadapt_view_asks_for_more(view, found.count);
	int error;

	error = kadapt_pattern_read(&reader->pattern, reader->file, offset,
				    *span, there);
	if (error || !there)
		kadapt_view_discard(view, found.count);
	if (!error && !there)
		found = kadapt_view_collect(view, mapping, *span, around);
	*span = found;
	return error;
}

static int show(struct kadapt_reader *reader, struct kadapt_look *look)
{
	struct kadapt_view *view = &reader->view;
	struct kadapt_pattern *pattern = &reader->pattern;
	struct kadapt_span span =
		kadapt_pattern_span(pattern, look->offset, view->capacity);
	int error;

	kadapt_view_withdraw(view);
	if (!kadapt_view_empty(view))
		return -EBUSY;
	kadapt_pattern_drop_behind(pattern, reader->file, look->offset);
	span = cut_to_file(span, reader->file, look->offset);
	error = collect(reader, look->offset, &span);
	if (error)
		return error;
	describe(reader, span, look);
	error = kadapt_view_show(view, span.count);
	kadapt_pattern_fetch_ahead(pattern, reader->file, look->offset);
	if (error)
		return error;
	return look->offset < look->end ? 0 : -ENODATA;
}

static int look_locked(struct kadapt_reader *reader, struct file *file,
		       struct kadapt_look *look)
{
	int error;

	error = rebind(reader, file, look);
	if (error)
		return error;
	error = show(reader, look);
	start_timer(reader, look->delay_ns);
	/* Broken while the file was read, which may have taken too long. */
	if (test_bit(REQUEST_LET_GO, &reader->region.requests))
		error = -ENOLCK;
	if (error)
		kadapt_view_withdraw(&reader->view);
	return error;
}

static int look_at(struct kadapt_reader *reader, struct kadapt_look *look)
{
	struct file *file = fget(look->descriptor);
	int error;

	if (!file)
		return -EBADF;
	mutex_lock(&reader->lock);
	error = look_locked(reader, file, look);
	look_ends(reader);
	fput(file);
	return error;
}

static int look_away(struct kadapt_reader *reader)
{
	mutex_lock(&reader->lock);
	let_go(reader);
	look_ends(reader);
	return 0;
}

static int check_look(const struct kadapt_reader *reader,
		      const struct kadapt_look *look)
{
	if (look->pattern > KADAPT_PATTERN_STRIDED || look->reserved ||
	    (s64)look->offset < 0)
		return -EINVAL;
	if (look->pattern == KADAPT_PATTERN_STRIDED && !look->stride_bytes)
		return -EINVAL;
	if (look->record_bytes > (u64)reader->view.capacity << PAGE_SHIFT ||
	    look->readahead_bytes > KADAPT_READAHEAD_MAX ||
	    look->delay_ns > KADAPT_DELAY_MAX_NS)
		return -ERANGE;
	return 0;
}

static int look_checked(struct kadapt_reader *reader, struct kadapt_look *look)
{
	int error;

	if (look->flags & ~KADAPT_LOOK__ALL)
		return -EINVAL;
	if (look->flags & KADAPT_LOOK_LET_GO)
		return look_away(reader);
	error = check_look(reader, look);
	if (error)
		return error;
	if (!look->delay_ns)
		look->delay_ns = KADAPT_WINDOW_DELAY_NS;
	return look_at(reader, look);
}

int kadapt_windows_look(struct kadapt_client *client, struct kadapt_look *look)
{
	struct kadapt_region *region =
		kadapt_region_find(client, look->window, &window_kind);
	int error;

	if (IS_ERR(region))
		return PTR_ERR(region);
	error = look_checked(reader_of(region), look);
	kadapt_region_put(region);
	return error;
}
