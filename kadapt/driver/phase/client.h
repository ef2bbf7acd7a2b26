/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _KADAPT_CLIENT_H
#define _KADAPT_CLIENT_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/bitmap.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "choice/choice.h"
#include "phase/counters.h"

#define KADAPT_PHASES 256

struct kadapt_policy;
struct pid;

/*
 * What entering a phase does. Constant once published, but for the units; freed
 * with the client.
 */
struct kadapt_phase {
	u64 quantum_ns;
	u64 file_delay_ns;		/* 0: default */
	bool memory_is_plain;		/* no fault is served in bulk */
	/* Numbers of units that its tasks take; phases gain units. */
	DECLARE_BITMAP(units, KADAPT_UNITS);
	struct kadapt_total total;
};

/*
 * An open file of the device. Every state (task.c) and ring holds a reference.
 */
struct kadapt_client {
	struct kref refs;
	struct pid *owner;		/* the thread group that opened it */
	bool closed;			/* the file is gone */
	struct list_head tasks;		/* protected by the lock in task.c */
	struct kadapt_phase *phases[KADAPT_PHASES];
	struct xarray rings;		/* number -> struct kadapt_ring */
	struct workqueue_struct *worker;	/* NULL before the first ring */
	struct work_struct end;
};

struct kadapt_client *kadapt_client_create(void);
struct kadapt_client *kadapt_client_get(struct kadapt_client *client);
void kadapt_client_put(struct kadapt_client *client);
/* Give the client a worker. Returns 0 or -ENOMEM. */
int kadapt_client_employ(struct kadapt_client *client);
int kadapt_clients_init(void);
void kadapt_clients_exit(void);

bool kadapt_client_owned(const struct kadapt_client *client);
static inline bool kadapt_client_has_rings(const struct kadapt_client *client)
{
	return !xa_empty(&client->rings);
}

int kadapt_client_define(struct kadapt_client *client,
			 const struct kadapt_policy *policy);
/* The phase takes this unit, whose number is held for it. */
int kadapt_client_take(struct kadapt_client *client, u32 number,
		       unsigned int unit);
struct kadapt_phase *kadapt_client_phase(const struct kadapt_client *client,
					 unsigned long phase);

#endif /* _KADAPT_CLIENT_H */
