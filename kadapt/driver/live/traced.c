// SPDX-License-Identifier: GPL-2.0-only
/*
 * Places of the function tracer, called directly. All functions of a unit share
 * one ftrace_ops: each ftrace_ops more costs a pass over all of the kernel's
 * functions.
 */
#include <linux/bug.h>
#include <linux/errno.h>
#include <linux/ftrace.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <asm/ibt.h>
#include <asm/nops.h>
#include <asm/text-patching.h>

#include "choice/choice.h"
#include "live/places.h"
#include "live/unit.h"

static struct ftrace_ops operations[KADAPT_UNITS];

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

int kadapt_places_call(unsigned int number, const struct kadapt_unit *unit,
		       unsigned long stub)
{
	int error = check_functions(unit);

	if (!error)
		error = choose_functions(&operations[number], unit);
	if (!error)
		error = register_ftrace_direct(&operations[number], stub);
	if (error == -EBUSY)
		pr_err("unit %s: another unit or a live patch has one of its functions\n",
		       unit->name);
	return error;
}

void kadapt_places_restore(unsigned int number, const struct kadapt_unit *unit,
			   unsigned long stub)
{
	unregister_ftrace_direct(&operations[number], stub, false);
}

void kadapt_places_exit(void)
{
	unsigned int i;

	for (i = 0; i < KADAPT_UNITS; i++)
		ftrace_free_filter(&operations[i]);
}
