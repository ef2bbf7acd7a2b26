// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "ending.h"

/* Segment overrides, operand sizes, repetitions and REX come before an opcode. */
static size_t prefixes(const uint8_t *bytes, size_t size)
{
	static const uint8_t known[] = {0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65,
					0x66, 0x67, 0xf0, 0xf2, 0xf3};
	size_t count = 0;

	while (count + 1 < size &&
	       (memchr(known, bytes[count], sizeof(known)) || (bytes[count] & 0xf0) == 0x40))
		count++;
	return count;
}

static uint64_t relative(const uint8_t *last, size_t bytes, uint64_t next)
{
	int32_t wide;

	if (bytes == 1)
		return next + (uint64_t)(int64_t)(int8_t)last[-1];
	memcpy(&wide, last - 4, 4);
	return next + (uint64_t)(int64_t)wide;
}

/* REP INS, OUTS, MOVS, CMPS, STOS, LODS, SCAS */
static bool is_repeated(const uint8_t *bytes, const uint8_t *opcode)
{
	const bool is_string = (*opcode & 0xfc) == 0x6c || (*opcode & 0xfc) == 0xa4 ||
			       (*opcode >= 0xaa && *opcode <= 0xaf);

	for (; is_string && bytes < opcode; bytes++)
		if (*bytes == 0xf2 || *bytes == 0xf3)
			return true;
	return false;
}

static bool is_short_branch(uint8_t opcode)
{
	/* Jcc, LOOPcc, JRCXZ */
	return (opcode & 0xf0) == 0x70 || (opcode >= 0xe0 && opcode <= 0xe3);
}

/* Near and far calls, then near and far jumps; the others are no jumps. */
static enum ending ending_by_pointer(unsigned int operation)
{
	if (operation == 2 || operation == 3)
		return CALLS_BY;
	return operation == 4 || operation == 5 ? LEAVES : FALLS;
}

/* System calls, interrupts, returns of all kinds, and indirect jumps and calls. */
static enum ending ending_elsewhere(const uint8_t *opcode)
{
	switch (*opcode) {
	case 0xcf: /* IRET */
		return RESUMES;
	case 0xc2:
	case 0xc3:
	case 0xcb:
		return RETURNS;
	case 0xcc: /* INT3 */
	case 0xcd:
	case 0xf4: /* HLT */
		return LEAVES;
	case 0xff: /* indirect call and jump; also INC, DEC and PUSH, behind which a block may end
		    */
		return ending_by_pointer(opcode[1] >> 3 & 7);
	case 0x0f: /* SYSCALL, SYSRET, UD2, SYSENTER, SYSEXIT */
		return opcode[1] == 0x07 || opcode[1] == 0x35			     ? RESUMES
		       : opcode[1] == 0x05 || opcode[1] == 0x0b || opcode[1] == 0x34 ? LEAVES
										     : FALLS;
	default:
		return FALLS;
	}
}

enum ending ending_of(const uint8_t *bytes, size_t size, uint64_t address, uint64_t *target)
{
	const uint8_t *opcode = bytes + prefixes(bytes, size), *last = bytes + size;
	const uint64_t next = address + size;

	if (is_repeated(bytes, opcode))
		return REPEATS;
	if (is_short_branch(*opcode)) {
		*target = relative(last, 1, next);
		return BRANCHES;
	}
	if (*opcode == 0x0f && (opcode[1] & 0xf0) == 0x80) {
		*target = relative(last, 4, next);
		return BRANCHES;
	}
	if (*opcode == 0xeb || *opcode == 0xe9) {
		*target = relative(last, *opcode == 0xeb ? 1 : 4, next);
		return JUMPS;
	}
	if (*opcode == 0xe8) {
		*target = relative(last, 4, next);
		return CALLS;
	}
	return ending_elsewhere(opcode);
}

bool is_push_or_pop(const uint8_t *bytes)
{
	const uint8_t *opcode = bytes + ((bytes[0] & 0xf0) == 0x40);

	return (*opcode & 0xf0) == 0x50;
}
