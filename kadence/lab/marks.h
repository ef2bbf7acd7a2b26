/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Instructions that do nothing, by which a guest tells the plugins where parts of a run begin. */
#ifndef KADENCE_LAB_MARKS_H
#define KADENCE_LAB_MARKS_H

#include <string.h>

#include "qemu.h"

/* The marks of kadapt/driver/phase/mark.h; nothing is preempted between them. */
enum phase_mark { BIT_CLEAR, BIT_SET, PHASE, NO_PHASE };

/* Whether this is `nopl ??????NN(%rax)` with these other bytes of the number. */
static inline bool is_mark(const struct qemu_plugin_insn *instruction, const char *name)
{
	static const uint8_t nop[] = {0x0f, 0x1f, 0x80};
	const uint8_t *bytes = bytes_of(instruction);

	return qemu_plugin_insn_size(instruction) == 7 && !memcmp(bytes, nop, 3) &&
	       !memcmp(bytes + 4, name, 3);
}

#endif
