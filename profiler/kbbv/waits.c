/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two signs show that a block waits for another thread:
 *
 *   - The block executes `pause`, an instruction for loops that wait.
 *   - The block is a loop whose round changes nothing that the next round reads. The loop stores
 *     nothing, and does not read the registers that it writes. Such a loop continues until
 *     another thread changes the memory that it loads; a loop that computes is never like this.
 *
 * kbbv does not recognise waiting in a loop of several blocks without `pause`, or in a loop that
 * counts its rounds.
 */

#include "pub_tool_libcbase.h"
#include "libvex_guest_amd64.h"
#include "shape.h"

enum { GUEST = sizeof(VexGuestAMD64State) };

/* The octets of the guest's registers that the block reads before writing, or writes. */
struct registers {
	UChar read[GUEST];
	UChar written[GUEST];
	Bool unknown; /* the block does something else */
};

static void note(UChar *octets, Int offset, IRType type)
{
	for (Int i = offset; i < offset + sizeofIRType(type) && i < GUEST; i++)
		octets[i] = 1;
}

static void note_read(struct registers *registers, const IRExpr *from)
{
	const Int end =
	    from->tag == Iex_Get ? from->Iex.Get.offset + sizeofIRType(from->Iex.Get.ty) : 0;

	if (from->tag == Iex_GetI)
		registers->unknown = True;
	if (from->tag != Iex_Get)
		return;
	for (Int i = from->Iex.Get.offset; i < end && i < GUEST; i++)
		registers->read[i] |= !registers->written[i];
}

static void survey(const IRSB *block, const IRStmt *statement, struct registers *registers)
{
	switch (statement->tag) {
	case Ist_NoOp:
	case Ist_IMark:
	case Ist_AbiHint:
	case Ist_MBE:
	case Ist_Exit:
		break;
	case Ist_WrTmp:
		note_read(registers, statement->Ist.WrTmp.data);
		break;
	case Ist_Put:
		if (statement->Ist.Put.offset != offsetof(VexGuestAMD64State, guest_RIP))
			note(registers->written, statement->Ist.Put.offset,
			     typeOfIRExpr(block->tyenv, statement->Ist.Put.data));
		break;
	default: /* a store, or a call that may store */
		registers->unknown = True;
	}
}

/* Only jumps count, not an instruction that faults and would be executed again. */
static Bool leads_to_itself(const IRSB *block, Addr address)
{
	if (block->jumpkind == Ijk_Boring && block->next->tag == Iex_Const &&
	    leads_to(block->next->Iex.Const.con, address))
		return True;
	for (Int i = 0; i < block->stmts_used; i++) {
		const IRStmt *statement = block->stmts[i];

		if (statement->tag == Ist_Exit && statement->Ist.Exit.jk == Ijk_Boring &&
		    leads_to(statement->Ist.Exit.dst, address))
			return True;
	}
	return False;
}

static Bool changes_nothing(const IRSB *block, Addr address)
{
	struct registers registers;

	if (!leads_to_itself(block, address))
		return False;
	VG_(memset)(&registers, 0, sizeof(registers));
	for (Int i = 0; i < block->stmts_used && !registers.unknown; i++)
		survey(block, block->stmts[i], &registers);
	for (Int i = 0; i < GUEST; i++) {
		if (registers.read[i] && registers.written[i])
			return False;
	}
	return !registers.unknown;
}

UInt waits_of(const IRSB *block, Addr address)
{
	return (block->jumpkind == Ijk_Yield ? WAITS_PAUSES : 0) |
	       (changes_nothing(block, address) ? WAITS_UNCHANGING : 0);
}
