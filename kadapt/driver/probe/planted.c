// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls of stubs in kernels without the function tracer: GCC has planted one
 * instruction of five bytes that does nothing at the begin of each function, and
 * has listed its address.
 */
#include <linux/errno.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "base/text.h"
#include "probe/places.h"

#define CALL 0xe8

static const u8 nothing[KADAPT_PLACE_BYTES] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };

static bool is_place(unsigned long address)
{
	const unsigned long *each = __start___mcount_loc;

	while (each < __stop___mcount_loc)
		if (*each++ == address)
			return true;
	return false;
}

static int check(const unsigned long *addresses, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		if (!is_place(addresses[i]))
			return -ENOENT;
		if (memcmp((void *)addresses[i], nothing, sizeof(nothing)))
			return -EBUSY;
	}
	return 0;
}

static void make_call(unsigned long place, unsigned long stub)
{
	s32 distance = stub - (place + KADAPT_PLACE_BYTES);
	u8 call[KADAPT_PLACE_BYTES] = { CALL };

	memcpy(&call[1], &distance, sizeof(distance));
	kadapt_text_write((void *)place, call);
}

int kadapt_probe_register(struct kadapt_probe_calls *calls,
			  unsigned long *addresses, unsigned int count,
			  unsigned long stub)
{
	int error = check(addresses, count);
	unsigned int i;

	if (error)
		return error;
	calls->addresses = kvmemdup(addresses, count * sizeof(*addresses),
				    GFP_KERNEL);
	if (!calls->addresses)
		return -ENOMEM;
	calls->count = count;
	for (i = 0; i < count; i++)
		make_call(addresses[i], stub);
	return 0;
}

void kadapt_probe_unregister(struct kadapt_probe_calls *calls,
			     unsigned long stub)
{
	while (calls->count--)
		kadapt_text_write((void *)calls->addresses[calls->count],
				  nothing);
	kvfree(calls->addresses);
	*calls = (struct kadapt_probe_calls){ };
}
