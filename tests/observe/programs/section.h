/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Marks sections for QEMU's plugin by numbers that are known when the program runs. */
#ifndef SECTION_H
#define SECTION_H

#include <string.h>
#include <sys/mman.h>

/* The instruction of boot/mark.h, with a section that is known when the program runs. */
static void mark(int section)
{
	static unsigned char *code;
	static const unsigned char bytes[] = {0x0f, 0x1f, 0x80, 0, 0x44, 0x41, 0x4b, 0xc3};

	if (!code) {
		code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		memcpy(code, bytes, sizeof(bytes));
	}
	code[3] = section;
	((void (*)(void))code)();
}

#endif
