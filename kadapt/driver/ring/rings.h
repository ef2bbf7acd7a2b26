/* SPDX-License-Identifier: GPL-2.0-only */
/* The device's calls about rings. Kernels without rings get stubs. */
#ifndef _KADAPT_RINGS_H
#define _KADAPT_RINGS_H

#include <linux/errno.h>
#include <linux/types.h>

struct kadapt_binding;
struct kadapt_client;
struct kadapt_new_ring;
struct kadapt_query;
struct vm_area_struct;

#ifdef KADAPT_WITH_RINGS

void kadapt_rings_query(struct kadapt_query *query);
int kadapt_rings_create(struct kadapt_client *client,
			struct kadapt_new_ring *wanted);
int kadapt_rings_bind(struct kadapt_client *client,
		      struct kadapt_binding *binding);
int kadapt_rings_drain(struct kadapt_client *client, unsigned long argument);
int kadapt_rings_unbind(struct kadapt_client *client, unsigned long argument);
/* Drain all rings before a phase begins or ends; errors stay kept. */
void kadapt_rings_phase_changes(struct kadapt_client *client);
int kadapt_rings_map(struct kadapt_client *client, struct vm_area_struct *vma);
void kadapt_rings_close(struct kadapt_client *client);
void kadapt_rings_exit(void);

#else

static inline void kadapt_rings_query(struct kadapt_query *query)
{
}

static inline int kadapt_rings_create(struct kadapt_client *client,
				      struct kadapt_new_ring *wanted)
{
	return -EOPNOTSUPP;
}

static inline int kadapt_rings_bind(struct kadapt_client *client,
				    struct kadapt_binding *binding)
{
	return -EOPNOTSUPP;
}

static inline int kadapt_rings_drain(struct kadapt_client *client,
				     unsigned long argument)
{
	return -EOPNOTSUPP;
}

static inline int kadapt_rings_unbind(struct kadapt_client *client,
				      unsigned long argument)
{
	return -EOPNOTSUPP;
}

static inline void kadapt_rings_phase_changes(struct kadapt_client *client)
{
}

static inline int kadapt_rings_map(struct kadapt_client *client,
				   struct vm_area_struct *vma)
{
	return -ENODEV;
}

static inline void kadapt_rings_close(struct kadapt_client *client)
{
}

static inline void kadapt_rings_exit(void)
{
}

#endif

#endif /* _KADAPT_RINGS_H */
