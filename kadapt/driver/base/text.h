/* SPDX-License-Identifier: GPL-2.0-only */
/* Writes the kernel's code while it runs. */
#ifndef _KADAPT_TEXT_H
#define _KADAPT_TEXT_H

#include <linux/types.h>

#define KADAPT_PLACE_BYTES 5

#ifdef CONFIG_UML

#include <linux/irqflags.h>
#include <linux/mm.h>
#include <linux/string.h>

#include <os.h>

/*
 * User-Mode Linux has one processor. No task stands inside the instruction, and
 * no interrupt handler runs it meanwhile.
 */
static inline void kadapt_text_write(void *place, const u8 *instruction)
{
	unsigned long begin = (unsigned long)place & PAGE_MASK;
	unsigned long end = PAGE_ALIGN((unsigned long)place + KADAPT_PLACE_BYTES);
	unsigned long flags;

	local_irq_save(flags);
	os_protect_memory((void *)begin, end - begin, 1, 1, 1);
	memcpy(place, instruction, KADAPT_PLACE_BYTES);
	os_protect_memory((void *)begin, end - begin, 1, 0, 1);
	local_irq_restore(flags);
}

#else

#include <linux/memory.h>
#include <linux/mutex.h>

#include <asm/text-patching.h>

static inline void kadapt_text_write(void *place, const u8 *instruction)
{
	mutex_lock(&text_mutex);
	text_poke_bp(place, instruction, KADAPT_PLACE_BYTES, NULL);
	mutex_unlock(&text_mutex);
}

#endif

#endif /* _KADAPT_TEXT_H */
