/* SPDX-License-Identifier: MIT */
/* The process's rings: made when first needed, kept, given to one channel at a time. */
#ifndef LIBKADAPT_POOL_H
#define LIBKADAPT_POOL_H

#include "channel.h"

/* As many as kadapt_bound has bits; the kernel may allow fewer. */
#define KADAPT_POOL_MAX 64

/*
 * Give the channel a ring, a new one or one that another channel has no use
 * for; 1, or 0 if there is none now. From inside the channel.
 */
KADAPT_HIDDEN int kadapt_pool_take(struct kadapt_channel *channel);

/* The channel's ring, which it has, by the device's number. */
KADAPT_HIDDEN uint32_t kadapt_pool_number(const struct kadapt_channel *channel);

/* The channel's ring is in use from here on, by write() or by another function. */
KADAPT_HIDDEN void kadapt_pool_attach(struct kadapt_channel *channel, int for_write);

/* The channel whose ring has this bit in kadapt_bound, or NULL. */
KADAPT_HIDDEN struct kadapt_channel *kadapt_pool_channel(unsigned int bit);

/* The channel's ring holds nothing and accepts nothing. */
KADAPT_HIDDEN void kadapt_pool_unbound(const struct kadapt_channel *channel);

/* Bytes appended ever, to all rings. */
KADAPT_HIDDEN uint64_t kadapt_pool_bytes(void);

/* In a forked child: the rings are the parent's. */
KADAPT_HIDDEN void kadapt_pool_forget(void);

#endif
