/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a program in the guest tells the plugin where a section begins. */
#ifndef KADENCE_LAB_MARK_H
#define KADENCE_LAB_MARK_H

/* An instruction that does nothing. SECTION is "1" to "7", or "0" for the end of a section. */
#define KADENCE_LAB_MARK(SECTION)                                                                  \
	__asm__ volatile(".byte 0x0f, 0x1f, 0x80, " SECTION ", 0x44, 0x41, 0x4b" ::: "memory")

#endif
