// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replaces functions by direct calls of the function tracer. All functions of a
 * unit share one ftrace_ops and so one stub: each ftrace_ops more costs a pass
 * over all of the kernel's functions.
 */
#include <linux/bug.h>
#include <linux/errno.h>
#include <linux/ftrace.h>
#include <linux/mm.h>
#include <linux/printk.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include <asm/ibt.h>
#include <asm/nops.h>
#include <asm/text-patching.h>

#include "choice/choice.h"
#include "live/dispatch.h"
#include "live/table.h"
#include "live/unit.h"

/* Multipliers to try; of a group of 50 functions, every third one succeeds. */
#define MOST_TRIES 10000

struct kadapt_table kadapt_tables[KADAPT_UNITS];
static struct ftrace_ops dispatch_ops[KADAPT_UNITS];

static unsigned long stub_of(unsigned int number)
{
	return (unsigned long)kadapt_stubs + number * KADAPT_STUB_BYTES;
}

/* ---- where a function can be replaced ------------------------------------- */

static bool is_call_or_nop(const void *place)
{
	static const u8 nop[] = { BYTES_NOP5 };

	return *(const u8 *)place == CALL_INSN_OPCODE ||
	       !memcmp(place, nop, sizeof(nop));
}

/*
 * The unit's builder found the function's instruction for the tracer in the
 * kernel's image: the first, or the one behind a landing pad for indirect
 * calls. If this is another kernel, the instruction is another one.
 */
static bool is_traced(const struct kadapt_replacement *replacement)
{
	unsigned long place = replacement->original - MCOUNT_INSN_SIZE;
	unsigned long before = place - replacement->address;

	return (!before || before == ENDBR_INSN_SIZE) &&
	       is_call_or_nop((const void *)place);
}

static int check_functions(const struct kadapt_unit *unit)
{
	const struct kadapt_replacement *each;

	for (each = unit->replacements; each < unit->end; each++) {
		if (is_traced(each))
			continue;
		pr_err("unit %s: %s can't be replaced, because it can't be traced\n",
		       unit->name, each->name);
		return -EINVAL;
	}
	return 0;
}

/* ---- the table ------------------------------------------------------------ */

static unsigned long *slot_for(const struct kadapt_table *table,
			       unsigned long original)
{
	u32 slot = (u32)original * table->multiplier >> KADAPT_TABLE_SHIFT;

	return &table->slot[slot];
}

static bool table_fill(struct kadapt_table *table,
		       const struct kadapt_unit *unit)
{
	const struct kadapt_replacement *each;

	memset(table->slot, 0, KADAPT_TABLE_SLOTS * sizeof(*table->slot));
	for (each = unit->replacements; each < unit->end; each++) {
		unsigned long *slot = slot_for(table, each->original);

		if (*slot)
			return false;
		*slot = each->variant;
	}
	return true;
}

static int table_create(struct kadapt_table *table,
			const struct kadapt_unit *unit)
{
	int tries;

	table->slot = kvmalloc_array(KADAPT_TABLE_SLOTS, sizeof(*table->slot),
				     GFP_KERNEL);
	if (!table->slot)
		return -ENOMEM;
	for (tries = 0; tries < MOST_TRIES; tries++) {
		table->multiplier = get_random_u32() | 1;
		if (table_fill(table, unit))
			return 0;
	}
	kvfree(table->slot);
	return -E2BIG;
}

/* ---- begin and end -------------------------------------------------------- */

static int choose_functions(struct ftrace_ops *ops,
			    const struct kadapt_unit *unit)
{
	unsigned int count = unit->end - unit->replacements, i;
	unsigned long *places;
	int error;

	places = kcalloc(count, sizeof(*places), GFP_KERNEL);
	if (!places)
		return -ENOMEM;
	for (i = 0; i < count; i++)
		places[i] = unit->replacements[i].address;
	error = ftrace_set_filter_ips(ops, places, count, 0, 1);
	kfree(places);
	return error;
}

int kadapt_dispatch_begin(unsigned int number, const struct kadapt_unit *unit)
{
	struct kadapt_table *table = &kadapt_tables[number];
	int error = check_functions(unit);

	if (!error)
		error = table_create(table, unit);
	if (error)
		return error;
	error = choose_functions(&dispatch_ops[number], unit);
	if (!error)
		error = register_ftrace_direct(&dispatch_ops[number],
					       stub_of(number));
	if (error)
		kvfree(table->slot);
	return error;
}

void kadapt_dispatch_end(unsigned int number)
{
	unregister_ftrace_direct(&dispatch_ops[number], stub_of(number), false);
	/*
	 * A task may have been interrupted or preempted in the stub: wait for
	 * all tasks, and for what interrupts on each processor.
	 */
	synchronize_rcu_tasks();
	synchronize_rcu_tasks_rude();
	kvfree(kadapt_tables[number].slot);
}

void kadapt_dispatch_exit(void)
{
	unsigned int i;

	for (i = 0; i < KADAPT_UNITS; i++)
		ftrace_free_filter(&dispatch_ops[i]);
}
