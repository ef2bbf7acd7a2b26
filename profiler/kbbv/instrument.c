/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Puts the counting into translated code.
 *
 * A block is cut into runs at its side exits, and each run has a probe where it begins:
 *
 *     counter = counter + 1
 *     budget = budget - weight                        (weight: instructions of the run)
 *     if (budget < 0) threads_interval_end(counter)   (first probe of a block only)
 *
 * The first counter of a block is that of its entries, which VEX counts more cheaply than any IR
 * would (translate.c), where the first run begins with the block.
 *
 * An instruction counts where it completes, which matters for three kinds:
 *
 *   - one that leaves the block to be executed again (VEX does so where the compare-and-swap of
 *     a locked instruction failed) belongs to the run after that exit;
 *   - a string instruction with a repeat prefix is for VEX a loop whose every round jumps to
 *     the instruction itself; it has a counter of its own, bumped where the loop is left;
 *   - one that faults leaves the rest of its run undone, which is taken back (threads.c); one
 *     that can only fault does not count.
 */

#include "pub_tool_libcbase.h"
#include "pub_tool_libcassert.h"
#include "libvex_guest_amd64.h"
#include "pub_tool_machine.h"
#include "kbbv.h"

enum { MAXIMUM_PROBES = 256, MAXIMUM_INSTRUCTIONS = 256, NO_ENTRY = -1 };

enum instruction { ORDINARY, CONDITIONAL_BRANCH, REPEATED_STRING };

struct probe {
	Int after; /* index of the statement it follows */
	UInt weight;
};

/* What there is to count in a block. */
struct shape {
	struct probe probes[MAXIMUM_PROBES];
	UInt used;
	Int entry; /* statement that marks the first instruction, or NO_ENTRY: left before it */
	UInt instructions;
	UChar lengths[MAXIMUM_INSTRUCTIONS];
	Addr repeated; /* address of the block's repeated string instruction, or 0 */
};

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

/* FNV-1a over the guest's bytes. */
static ULong fingerprint(const VexGuestExtents *extents)
{
	ULong hash = 0xcbf29ce484222325ULL;

	for (UInt extent = 0; extent < extents->n_used; extent++) {
		const UChar *code = (const UChar *)(Addr)extents->base[extent];

		for (UInt i = 0; i < extents->len[extent]; i++)
			hash = (hash ^ code[i]) * 0x100000001b3ULL;
	}
	return hash;
}

/* A probe that counts nothing is no probe. */
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

static Bool leads_to(const IRConst *target, Addr address)
{
	return target->tag == Ico_U64 && target->Ico.U64 == address;
}

static Bool falls_back_to(const IRSB *block, Addr address)
{
	return block->next->tag == Iex_Const && leads_to(block->next->Iex.Const.con, address);
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

/* What the last instruction of a block does if it is one that only ever faults. */
static Bool never_completes(IRJumpKind kind)
{
	return kind == Ijk_NoDecode || kind == Ijk_SigILL || kind == Ijk_SigSEGV ||
	       kind == Ijk_SigBUS;
}

/* The repeated string instruction, if any, is the last of a block. */
static void survey(const IRSB *in, struct shape *shape)
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

static IRExpr *constant(ULong value)
{
	return IRExpr_Const(IRConst_U64(value));
}

static IRExpr *add_operation(IRSB *out, IROp operation, IRExpr *one, IRExpr *other)
{
	IRTemp left = newIRTemp(out->tyenv, Ity_I64);
	IRTemp result = newIRTemp(out->tyenv, Ity_I64);

	addStmtToIRSB(out, IRStmt_WrTmp(left, one));
	addStmtToIRSB(out,
		      IRStmt_WrTmp(result, IRExpr_Binop(operation, IRExpr_RdTmp(left), other)));
	return IRExpr_RdTmp(result);
}

static void add_to_counter(IRSB *out, UInt counter, IRExpr *amount)
{
	IRExpr *place = constant((ULong)(Addr)counter_place(counter));
	IRExpr *before = IRExpr_Load(Iend_LE, Ity_I64, place);

	addStmtToIRSB(out,
		      IRStmt_Store(Iend_LE, place, add_operation(out, Iop_Add64, before, amount)));
}

/* Returns what is left. The budget lies where code reaches it without a register of its own. */
static IRExpr *add_spending(IRSB *out, IRExpr *amount)
{
	const Int place = sizeof(VexGuestAMD64State) + BUDGET_PLACE;
	IRExpr *left = add_operation(out, Iop_Sub64, IRExpr_Get(place, Ity_I64), amount);

	addStmtToIRSB(out, IRStmt_Put(place, left));
	return left;
}

static void add_interval_check(IRSB *out, IRExpr *budget, UInt counter)
{
	IRDirty *call = unsafeIRDirty_0_N(0, "threads_interval_end",
					  VG_(fnptr_to_fnentry)(&threads_interval_end),
					  mkIRExprVec_1(constant(counter)));
	IRTemp spent = newIRTemp(out->tyenv, Ity_I1);

	addStmtToIRSB(out, IRStmt_WrTmp(spent, IRExpr_Binop(Iop_CmpLT64S, budget, constant(0))));
	call->guard = IRExpr_RdTmp(spent);
	addStmtToIRSB(out, IRStmt_Dirty(call));
}

static IRExpr *add_argument(IRSB *out, Int offset)
{
	IRTemp value = newIRTemp(out->tyenv, Ity_I64);

	addStmtToIRSB(out, IRStmt_WrTmp(value, IRExpr_Get(offset, Ity_I64)));
	return IRExpr_RdTmp(value);
}

/* At the entry of an allocating function: remembers what it is asked for. */
static void add_request(IRSB *out, enum request request)
{
	const Int first = offsetof(VexGuestAMD64State, guest_RDI);
	const Int second = offsetof(VexGuestAMD64State, guest_RSI);
	const Int third = offsetof(VexGuestAMD64State, guest_RDX);
	IRTemp product;
	IRExpr *bytes;

	if (request == NO_REQUEST)
		return;
	bytes = add_argument(out, request == SECOND_ARGUMENT  ? second
				  : request == THIRD_ARGUMENT ? third
							      : first);
	if (request == PRODUCT_OF_TWO) {
		product = newIRTemp(out->tyenv, Ity_I64);
		addStmtToIRSB(out, IRStmt_WrTmp(product, IRExpr_Binop(Iop_Mul64, bytes,
								      add_argument(out, second))));
		bytes = IRExpr_RdTmp(product);
	}
	addStmtToIRSB(out, IRStmt_Store(Iend_LE, constant((ULong)(Addr)&kbbv_request), bytes));
}

/* The first probe of a block that can't be left before it. */
static Bool is_at_entry(const struct shape *shape, UInt probe)
{
	return probe == 0 && shape->probes[0].after == shape->entry;
}

static void add_probe(IRSB *out, const struct shape *shape, UInt probe, UInt counter)
{
	IRExpr *budget;

	if (is_at_entry(shape, probe))
		translate_count_entries(counter_place(counter));
	else
		add_to_counter(out, counter, constant(1));
	budget = add_spending(out, constant(shape->probes[probe].weight));
	if (probe == 0)
		add_interval_check(out, budget, counter);
}

/* Counts one more completion where the guard holds, so that the exit is about to be taken. */
static void add_completion(IRSB *out, IRExpr *guard, UInt counter)
{
	IRTemp completed = newIRTemp(out->tyenv, Ity_I64);

	addStmtToIRSB(out, IRStmt_WrTmp(completed, IRExpr_Unop(Iop_1Uto64, guard)));
	add_to_counter(out, counter, IRExpr_RdTmp(completed));
	add_spending(out, IRExpr_RdTmp(completed));
}

static Bool completes_repeated(const IRStmt *statement, const struct shape *shape, Bool inside)
{
	return inside && statement->tag == Ist_Exit &&
	       !leads_to(statement->Ist.Exit.dst, shape->repeated);
}

static void copy_with_probes(const IRSB *in, IRSB *out, const struct shape *shape,
			     const struct block *block)
{
	UInt repeated_counter = block->first_counter + shape->used;
	Bool inside_repeated = False;
	UInt next = 0;

	for (Int i = 0; i < in->stmts_used; i++) {
		IRStmt *statement = in->stmts[i];

		if (shape->repeated && statement->tag == Ist_IMark)
			inside_repeated = statement->Ist.IMark.addr == shape->repeated;
		if (completes_repeated(statement, shape, inside_repeated))
			add_completion(out, statement->Ist.Exit.guard, repeated_counter);
		addStmtToIRSB(out, statement);
		for (; next < shape->used && shape->probes[next].after == i; next++) {
			if (next == 0)
				add_request(out, block->request);
			add_probe(out, shape, next, block->first_counter + next);
		}
	}
	if (shape->repeated && !falls_back_to(in, shape->repeated)) {
		add_to_counter(out, repeated_counter, constant(1));
		add_spending(out, constant(1));
	}
}

IRSB *kbbv_instrument(VgCallbackClosure *closure __attribute__((unused)), IRSB *in,
		      const VexGuestLayout *layout __attribute__((unused)),
		      const VexGuestExtents *extents,
		      const VexArchInfo *host __attribute__((unused)),
		      IRType guest_word __attribute__((unused)),
		      IRType host_word __attribute__((unused)))
{
	UInt weights[MAXIMUM_PROBES + 1];
	struct shape shape;
	struct block wanted, *block;
	UInt counters;
	IRSB *out;

	survey(in, &shape);
	if (shape.used == 0 && !shape.repeated)
		return in;
	for (counters = 0; counters < shape.used; counters++)
		weights[counters] = shape.probes[counters].weight;
	if (shape.repeated)
		weights[counters++] = 1;
	wanted = (struct block){
	    .address = extents->base[0],
	    .fingerprint = fingerprint(extents),
	    .instructions = shape.instructions,
	    .bytes = extents->len[0],
	    .lengths = shape.lengths,
	    .counters = counters,
	    .runs = shape.used,
	};
	block = blocks_find_or_add(&wanted, weights);
	out = deepCopyIRSBExceptStmts(in);
	copy_with_probes(in, out, &shape, block);
	return out;
}
