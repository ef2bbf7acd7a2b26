/* SPDX-License-Identifier: GPL-2.0-only */
/* What happens when somebody touches a bound file. */
#ifndef _KADAPT_TOUCH_H
#define _KADAPT_TOUCH_H

#include <linux/types.h>

struct file;
struct kadapt_ring;
struct kiocb;

/*
 * Called before an operation of the file. Returns 0 if the file is not bound
 * from here on and the caller calls the file's own operation; else the value
 * that the operation returns. @may_write: the caller has called
 * file_start_write(), which must not be called twice.
 */
int kadapt_touch(struct file *file, bool may_write);
/* The same for splice_write(), whose caller has read the file's position. */
int kadapt_touch_splice(struct file *file, loff_t *position);
/* The same for a request that may be asynchronous. */
int kadapt_touch_request(struct kiocb *request, bool may_write);

/*
 * Called under a spinlock: the calling task breaks the ring's lease. Returns
 * true if the task unbinds the ring itself on its way back to user mode.
 */
bool kadapt_touch_by_lease(struct kadapt_ring *ring);

/* Have the system call restarted once the ring is unbound. Puts the ring. */
int kadapt_touch_restart(struct kadapt_ring *ring);
/*
 * Unbind or drain now, in this task or, where it may not write, in the worker.
 */
void kadapt_touch_unbind(struct kadapt_ring *ring, bool may_write);
void kadapt_touch_drain(struct kadapt_ring *ring);

#endif /* _KADAPT_TOUCH_H */
