/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the device's calls do with rings and batches; nothing in a kernel without
 * them.
 */
#ifndef _KADAPT_PATHS_H
#define _KADAPT_PATHS_H

#include <linux/errno.h>
#include <linux/types.h>

struct kadapt_batch;
struct kadapt_binding;
struct kadapt_client;
struct kadapt_query;
struct kadapt_ring;
struct vm_area_struct;

#ifdef KADAPT_WITH_RINGS

void kadapt_paths_query(struct kadapt_query *query);
int kadapt_paths_create(struct kadapt_client *client,
			struct kadapt_ring *ring);
int kadapt_paths_bind(struct kadapt_client *client,
		      struct kadapt_binding *binding);
int kadapt_paths_drain(struct kadapt_client *client, unsigned long argument);
int kadapt_paths_unbind(struct kadapt_client *client, unsigned long argument);
void kadapt_paths_phase_changes(struct kadapt_client *client);
int kadapt_batch_write(struct kadapt_batch *batch);

int kadapt_regions_map(struct kadapt_client *client,
		       struct vm_area_struct *vma);
void kadapt_regions_close(struct kadapt_client *client);
int kadapt_regions_init(void);
void kadapt_regions_exit(void);

#else

static inline void kadapt_paths_query(struct kadapt_query *query)
{
}

static inline int kadapt_paths_create(struct kadapt_client *client,
				      struct kadapt_ring *ring)
{
	return -EOPNOTSUPP;
}

static inline int kadapt_regions_map(struct kadapt_client *client,
				     struct vm_area_struct *vma)
{
	return -ENODEV;
}

static inline int kadapt_paths_bind(struct kadapt_client *client,
				    struct kadapt_binding *binding)
{
	return -EOPNOTSUPP;
}

static inline int kadapt_paths_drain(struct kadapt_client *client,
				     unsigned long argument)
{
	return -EOPNOTSUPP;
}

static inline int kadapt_paths_unbind(struct kadapt_client *client,
				      unsigned long argument)
{
	return -EOPNOTSUPP;
}

static inline void kadapt_paths_phase_changes(struct kadapt_client *client)
{
}

static inline void kadapt_regions_close(struct kadapt_client *client)
{
}

static inline int kadapt_regions_init(void)
{
	return 0;
}

static inline void kadapt_regions_exit(void)
{
}

static inline int kadapt_batch_write(struct kadapt_batch *batch)
{
	return -EOPNOTSUPP;
}

#endif

#endif /* _KADAPT_PATHS_H */
