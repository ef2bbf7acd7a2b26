/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The shape of a block: its runs, each of which ends at a side exit.
 *
 * An instruction counts when it completes. This matters for three kinds:
 *
 *   - An instruction may leave the block in order to be executed again. VEX does so when the
 *     compare-and-swap of a locked instruction fails. It belongs to the run after that exit.
 *   - VEX translates a string instruction with a repeat prefix into a loop. Each round jumps to the
 *     instruction itself. It has its own counter, incremented when the program leaves the loop.
 *   - An instruction that faults keeps the rest of its run from executing; threads.c subtracts
 *     that rest. An instruction that can only fault does not count.
 */

#include "pub_tool_libcassert.h"
#include "shape.h"

enum instruction { ORDINARY, CONDITIONAL_BRANCH, REPEATED_STRING };

static Bool is_prefix(UChar byte)
{
	switch (byte) {
	case 0x26:
	case 0x2e:
	case 0x36:
	case 0x3e:
	case 0x64 ... 0x67:
	case 0xf0:
	case 0xf2:
	case 0xf3:
		return True;
	default:
		return False;
	}
}

static Bool is_string_operation(UChar opcode)
{
	return (opcode >= 0x6c && opcode <= 0x6f) || (opcode >= 0xa4 && opcode <= 0xa7) ||
	       (opcode >= 0xaa && opcode <= 0xaf);
}

static enum instruction classify(const UChar *code, UInt length)
{
	Bool repeated = False;
	UInt i = 0;

	for (; i < length && is_prefix(code[i]); i++)
		repeated = repeated || code[i] == 0xf2 || code[i] == 0xf3;
	if (i < length && (code[i] & 0xf0) == 0x40) /* REX */
		i++;
	if (i >= length)
		return ORDINARY;
	if (repeated && is_string_operation(code[i]))
		return REPEATED_STRING;
	if ((code[i] & 0xf0) == 0x70 || (code[i] & 0xfc) == 0xe0)
		return CONDITIONAL_BRANCH;
	if (code[i] == 0x0f && i + 1 < length && (code[i + 1] & 0xf0) == 0x80)
		return CONDITIONAL_BRANCH;
	return ORDINARY;
}

/* Removes the last probe if it counts no instructions. */
static void drop_empty_probe(struct shape *shape)
{
	if (shape->used > 0 && shape->probes[shape->used - 1].weight == 0)
		shape->used--;
}

static void open_probe(struct shape *shape, Int after, UInt weight)
{
	drop_empty_probe(shape);
	tl_assert(shape->used < MAXIMUM_PROBES);
	shape->probes[shape->used++] = (struct probe){after, weight};
}

Bool leads_to(const IRConst *target, Addr address)
{
	return target->tag == Ico_U64 && target->Ico.U64 == address;
}

static void survey_exit(struct shape *shape, Int index, const IRStmt *exit, Addr address,
			enum instruction kind)
{
	struct probe *probe = &shape->probes[shape->used - 1];

	if (kind == REPEATED_STRING)
		return;
	if (kind == ORDINARY && leads_to(exit->Ist.Exit.dst, address)) {
		probe->weight--;
		open_probe(shape, index, 1);
	} else {
		open_probe(shape, index, 0);
	}
}

/* True if the block ends with an instruction that can only fault. */
static Bool never_completes(IRJumpKind kind)
{
	return kind == Ijk_NoDecode || kind == Ijk_SigILL || kind == Ijk_SigSEGV ||
	       kind == Ijk_SigBUS;
}

/* A repeated string instruction is always the last instruction of a block. */
void shape_survey(const IRSB *in, struct shape *shape)
{
	enum instruction kind = ORDINARY;
	Addr address = 0;

	shape->used = 0;
	shape->entry = NO_ENTRY;
	shape->instructions = 0;
	shape->repeated = 0;
	for (Int i = 0; i < in->stmts_used; i++) {
		const IRStmt *statement = in->stmts[i];

		if (statement->tag == Ist_IMark) {
			address = statement->Ist.IMark.addr;
			kind = classify((const UChar *)address, statement->Ist.IMark.len);
			tl_assert(shape->instructions < MAXIMUM_INSTRUCTIONS);
			shape->lengths[shape->instructions] = (UChar)statement->Ist.IMark.len;
			if (shape->instructions++ == 0) {
				if (shape->used == 0)
					shape->entry = i;
				open_probe(shape, i, 0);
			}
			if (kind == REPEATED_STRING)
				shape->repeated = address;
			else
				shape->probes[shape->used - 1].weight++;
		} else if (statement->tag == Ist_Exit) {
			survey_exit(shape, i, statement, address, kind);
		}
	}
	if (shape->used > 0 && never_completes(in->jumpkind))
		shape->probes[shape->used - 1].weight--;
	drop_empty_probe(shape);
}
