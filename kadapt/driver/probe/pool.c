// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory for records: a head, the blocks, and the records of each block.
 *
 * A program maps all of it and reads at any time. A block belongs to one phase
 * of one task, so only one processor at a time writes there. The first block is
 * for the phases that have none of their own.
 */
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "probe/session.h"
#include "probe/ticks.h"

#define POOL_BYTES	(32UL << 20)
#define LEAST_BLOCKS	4
#define MOST_BLOCKS	1024

static struct kadapt_probe_pool *pool;
static size_t pool_bytes;
static unsigned int most_blocks;
static atomic_t used;
static void *sinks;

struct kadapt_probe_pool *kadapt_probe_pool(void)
{
	return pool;
}

size_t kadapt_probe_pool_bytes(void)
{
	return pool_bytes;
}

size_t kadapt_probe_records_bytes(void)
{
	return pool->records_bytes;
}

void *kadapt_probe_sink(int processor)
{
	return sinks + processor * pool->records_bytes;
}

static struct kadapt_probe_block *block_at(unsigned int number)
{
	struct kadapt_probe_block *blocks = (void *)pool + pool->blocks_at;

	return &blocks[number];
}

static void *records_of(const struct kadapt_probe_block *block)
{
	return (void *)pool + pool->records_at +
	       (block - block_at(0)) * pool->records_bytes;
}

/* The last record is what frames outside of all calls have. */
static size_t records_bytes(unsigned int functions)
{
	return (functions + 1UL) * sizeof(struct kadapt_probe_record);
}

int kadapt_probe_pool_create(const struct kadapt_probe_arm *arm)
{
	size_t records = records_bytes(arm->count), heads, blocks, rings;
	size_t ring = arm->events ? BIT(arm->events) : 0;

	blocks = clamp((arm->pool_bytes ?: POOL_BYTES) / records, LEAST_BLOCKS,
		       MOST_BLOCKS);
	heads = PAGE_ALIGN(sizeof(*pool) + blocks * sizeof(*block_at(0)));
	rings = PAGE_ALIGN(heads + blocks * records);
	pool_bytes = rings + nr_cpu_ids * ring;
	pool = vmalloc_user(pool_bytes);
	sinks = vzalloc(array_size(nr_cpu_ids, records));
	if (!pool || !sinks) {
		kadapt_probe_pool_destroy();
		return -ENOMEM;
	}
	most_blocks = blocks;
	atomic_set(&used, 1);
	*pool = (struct kadapt_probe_pool){
		.functions = arm->count,
		.blocks = 1,
		.blocks_at = sizeof(*pool),
		.records_at = heads,
		.records_bytes = records,
		.events_at = rings,
		.events_bytes = ring,
		.processors = nr_cpu_ids,
	};
	kadapt_probe_events_begin((void *)pool + rings, ring);
	block_at(0)->phase = KADAPT_PROBE_NO_PHASE;
	return 0;
}

void kadapt_probe_pool_destroy(void)
{
	vfree(pool);
	vfree(sinks);
	pool = NULL;
	sinks = NULL;
}

/* Returns the first block if no other one is free. */
static notrace struct kadapt_probe_block *new_block(struct task_struct *task,
						    u32 phase)
{
	int number = atomic_fetch_add_unless(&used, 1, most_blocks);
	struct kadapt_probe_block *block = block_at(number);

	if (number == most_blocks) {
		pool->stays_lost++;
		return block_at(0);
	}
	block->process = task_tgid_nr(task);
	block->task = task_pid_nr(task);
	block->phase = phase;
	memcpy(block->name, task->comm, sizeof(block->name));
	/* Pairs with the reader's look at the block: it is complete. */
	smp_store_release(&pool->blocks, number + 1);
	return block;
}

static notrace struct kadapt_probe_block *block_of(struct task_struct *task,
						   u32 phase)
{
	struct kadapt_probe_block *block = block_at(READ_ONCE(pool->blocks));
	pid_t number = task_pid_nr(task);

	/* The newest first: numbers of tasks come back. */
	while (--block > block_at(0))
		if (block->task == number && block->phase == phase)
			return block;
	return new_block(task, phase);
}

notrace void kadapt_probe_block_enter(struct kadapt_probe_state *state,
				      struct task_struct *task, u32 phase)
{
	struct kadapt_probe_block *block = block_of(task, phase);

	if (block != block_at(0))
		WRITE_ONCE(block->entered, kadapt_probe_ticks());
	state->block = block;
	WRITE_ONCE(state->records, records_of(block));
}

notrace void kadapt_probe_block_leave(struct kadapt_probe_state *state)
{
	struct kadapt_probe_block *block = state->block;

	u64 now = kadapt_probe_ticks();

	if (!block->entered)
		return;
	block->elapsed += now - block->entered;
	if (block->phase != KADAPT_PROBE_NO_PHASE)
		kadapt_probe_event(state,
				   KADAPT_PROBE_EVENT_PHASE + block->phase,
				   block->entered, now);
	WRITE_ONCE(block->entered, 0);
	/* The task may have executed another program since the begin. */
	memcpy(block->name, state->task->comm, sizeof(block->name));
}
