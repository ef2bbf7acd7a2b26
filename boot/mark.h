/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a program in a guest tells the lab's plugin of QEMU where a section begins. */
#ifndef KADENCE_BOOT_MARK_H
#define KADENCE_BOOT_MARK_H

/* An instruction that does nothing. SECTION is "1" to "127", or "0" for the end of a section. */
#define KADENCE_MARK(SECTION)                                                                      \
	__asm__ volatile(".byte 0x0f, 0x1f, 0x80, " SECTION ", 0x44, 0x41, 0x4b" ::: "memory")

#endif
