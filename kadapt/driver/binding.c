// SPDX-License-Identifier: GPL-2.0-only
/* To bind a ring to a descriptor's open file, and to let that go. */
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/memcontrol.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>

#include "guard.h"
#include "path.h"

static void publish_limit(struct kadapt_path *path, u64 limit)
{
	struct kadapt_ring_header *header = path->memory.header;
	u32 state = 0;

	if (path->sink)
		state |= KADAPT_RING_BOUND;
	if (path->sink && path->can_reserve)
		state |= KADAPT_RING_RESERVED;
	WRITE_ONCE(header->state, state);
	/* After what the program may look at once it sees the limit. */
	smp_store_release(&header->limit, limit);
	path->limit = limit;
}

/* Accept as much as there is room for, and the mark allows. */
void kadapt_path_accept(struct kadapt_path *path)
{
	size_t wanted = path->memory.bytes;

	if (!path->sink)
		return;
	if (path->mark)
		wanted = min_t(size_t, wanted, path->mark);
	publish_limit(path, path->head + path->sink->room(path, wanted));
}

static void nothing(void *unused)
{
}

/*
 * Accept no more. The program looks at the limit again after it moved its tail:
 * so once every processor that runs it has passed a full barrier, either we see
 * the tail or it sees the limit.
 */
void kadapt_path_refuse(struct kadapt_path *path)
{
	if (!path->limit)
		return;
	publish_limit(path, 0);
	on_each_cpu_mask(mm_cpumask(path->region.mm), nothing, NULL, true);
}

static void release_identity(struct kadapt_path *path)
{
	put_cred(path->cred);
	mem_cgroup_put(path->memcg);
	path->cred = NULL;
	path->memcg = NULL;
}

/*
 * If ours is the last reference, the peer waits for its end of file, and who
 * wants the file's lock for that: a worker would put it off by a tick.
 */
static void put_file(struct file *file)
{
	if (current->flags & PF_KTHREAD)
		__fput_sync(file);
	else
		fput(file);
}

/* The descriptor's file is no longer ours; the ring has been emptied. */
void kadapt_path_let_go(struct kadapt_path *path)
{
	struct file *file = path->file;

	if (!path->sink)
		return;
	kadapt_drainer_stop(path);
	if (path->sink->unbind)
		path->sink->unbind(path);
	kadapt_unguard(path);
	WRITE_ONCE(path->sink, NULL);
	path->file = NULL;
	path->waiting = false;
	kadapt_path_refuse(path);
	/* The state, where the limit was 0 before. */
	publish_limit(path, 0);
	release_identity(path);
	put_file(file);
	/* Never the last: who holds the lock came by another reference. */
	kadapt_path_put(path);
}

static const struct kadapt_sink *sink_for(const struct file *file)
{
	umode_t mode = file_inode(file)->i_mode;

	if (S_ISREG(mode))
		return &kadapt_file_sink;
	if (S_ISFIFO(mode))
		return &kadapt_pipe_sink;
	if (S_ISSOCK(mode) && IS_ENABLED(CONFIG_NET))
		return &kadapt_socket_sink;
	return NULL;
}

/* What can be told without knowing the kind of file. */
static int check_file(const struct file *file, const struct kadapt_sink *sink,
		      u32 flags)
{
	if (!(file->f_mode & FMODE_WRITE))
		return -EBADF;
	if (!sink)
		return -EMEDIUMTYPE;
	if (sink->is_stream && flags & KADAPT_BIND_STRICT)
		return -EPROTONOSUPPORT;
	if (sink->is_stream && flags & KADAPT_BIND_AT)
		return -ESPIPE;
	if (file->f_flags & O_DIRECT)
		return -EBADFD;
	return 0;
}

static void keep_identity(struct kadapt_path *path)
{
	path->cred = get_current_cred();
	path->memcg = get_mem_cgroup_from_mm(current->mm);
}

/* Of the binding, in the path, until the sink has accepted it. */
static void set_terms(struct kadapt_path *path, struct file *file,
		      const struct kadapt_binding *binding)
{
	path->file = file;
	path->flags = binding->flags;
	path->mark = binding->mark_bytes;
	path->delay_ns = binding->delay_ns;
	path->retry_ns = binding->delay_ns;
	path->position = binding->offset;
	path->bound_head = path->head;
	path->can_reserve = false;
	path->keeps_space = false;
	path->waiting = false;
	path->give_up_ns = 0;
	/* From here on the lease may be broken. */
	clear_bit(KADAPT_REQUEST_UNBIND, &path->region.requests);
	keep_identity(path);
}

static int attach(struct kadapt_path *path, struct file *file,
		  const struct kadapt_sink *sink,
		  const struct kadapt_binding *binding)
{
	int error;

	set_terms(path, file, binding);
	error = sink->bind(path);
	if (error) {
		path->file = NULL;
		release_identity(path);
		return error;
	}
	WRITE_ONCE(path->sink, sink);
	kadapt_path_get(path);
	WRITE_ONCE(path->emptied_ns, ktime_get_mono_fast_ns());
	kadapt_drainer_start(path);
	return 0;
}

static void choose_delay(struct kadapt_binding *binding, u64 by_default)
{
	if (!binding->delay_ns)
		binding->delay_ns = by_default;
	binding->delay_ns = max_t(u64, binding->delay_ns, hrtimer_resolution);
}

int kadapt_path_bind(struct kadapt_path *path, struct kadapt_binding *binding,
		     u64 default_delay_ns[2])
{
	struct file *file = fget(binding->descriptor);
	const struct kadapt_sink *sink;
	int error;

	if (!file)
		return -EBADF;
	sink = sink_for(file);
	error = check_file(file, sink, binding->flags);
	if (!error) {
		choose_delay(binding, default_delay_ns[sink->is_stream]);
		error = attach(path, file, sink, binding);
	}
	if (error)
		fput(file);
	return error;
}

/* The kept error, given once; a broken pipe with its signal. */
int kadapt_path_take_error(struct kadapt_path *path, unsigned long flags)
{
	int error = path->error;

	path->error = 0;
	WRITE_ONCE(path->memory.header->error, 0);
	if (error == EPIPE && !(flags & KADAPT_DRAIN_NOSIGNAL))
		send_sig(SIGPIPE, current, 0);
	return -error;
}
