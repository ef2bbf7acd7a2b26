// SPDX-License-Identifier: GPL-2.0-only
/*
 * Places that the kernel's build planted, for kernels without the function
 * tracer: each function that the kernel's units replace begins with one
 * instruction of five bytes that does nothing.
 */
#include <linux/errno.h>
#include <linux/printk.h>
#include <linux/string.h>

#include "live/places.h"
#include "base/text.h"
#include "live/unit.h"

#define CALL 0xe8

static const u8 nothing[KADAPT_PLACE_BYTES] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };

static void *place_of(const struct kadapt_replacement *replacement)
{
	return (void *)(replacement->original - KADAPT_PLACE_BYTES);
}

static int check(const struct kadapt_unit *unit,
		 const struct kadapt_replacement *replacement)
{
	const u8 *place = place_of(replacement);

	if (!memcmp(place, nothing, sizeof(nothing)))
		return 0;
	if (*place == CALL) {
		pr_err("unit %s: another unit replaces %s\n", unit->name,
		       replacement->name);
		return -EBUSY;
	}
	pr_err("unit %s: the kernel was built without a place in %s\n",
	       unit->name, replacement->name);
	return -EINVAL;
}

static void make_call(const struct kadapt_replacement *replacement,
		      unsigned long stub)
{
	s32 distance = stub - replacement->original;
	u8 call[KADAPT_PLACE_BYTES] = { CALL };

	memcpy(&call[1], &distance, sizeof(distance));
	kadapt_text_write(place_of(replacement), call);
}

int kadapt_places_call(unsigned int number, const struct kadapt_unit *unit,
		       unsigned long stub)
{
	const struct kadapt_replacement *each;
	int error = 0;

	for (each = unit->replacements; each < unit->end && !error; each++)
		error = check(unit, each);
	if (error)
		return error;
	for (each = unit->replacements; each < unit->end; each++)
		make_call(each, stub);
	return 0;
}

void kadapt_places_restore(unsigned int number, const struct kadapt_unit *unit,
			   unsigned long stub)
{
	const struct kadapt_replacement *each;

	for (each = unit->replacements; each < unit->end; each++)
		kadapt_text_write(place_of(each), nothing);
}

void kadapt_places_exit(void)
{
}
