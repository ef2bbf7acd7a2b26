/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inserts the counting into translated code.
 *
 * A block is cut into runs at its side exits. Each run has a probe where it begins:
 *
 *     counter = counter + 1
 *     budget = budget - weight                        (weight: instructions of the run)
 *     if (budget < 0) threads_interval_end(counter)   (first probe of a block only)
 *
 * The first counter of a block counts its entries. If the first run begins with the block, VEX
 * counts the entries (translate.c), which is cheaper than any IR. The head of shape.c says what
 * the runs are and which instructions count in them.
 */

#include "pub_tool_libcbase.h"
#include "pub_tool_libcassert.h"
#include "libvex_guest_amd64.h"
#include "pub_tool_machine.h"
#include "shape.h"

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

/* Returns the budget that is left. Code reaches the budget without using up a register. */
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

/* At the entry of an allocating function: stores the number of bytes that the caller wants. */
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

/* True for a block's first probe if the block has no exit before it. */
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

/* Counts one more completion if the guard holds: the exit is about to be taken. */
static void add_completion(IRSB *out, IRExpr *guard, UInt counter)
{
	IRTemp completed = newIRTemp(out->tyenv, Ity_I64);

	addStmtToIRSB(out, IRStmt_WrTmp(completed, IRExpr_Unop(Iop_1Uto64, guard)));
	add_to_counter(out, counter, IRExpr_RdTmp(completed));
	add_spending(out, IRExpr_RdTmp(completed));
}

static Bool falls_back_to(const IRSB *block, Addr address)
{
	return block->next->tag == Iex_Const && leads_to(block->next->Iex.Const.con, address);
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

	shape_survey(in, &shape);
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
	    .waits = waits_of(in, extents->base[0]),
	};
	block = blocks_find_or_add(&wanted, weights);
	out = deepCopyIRSBExceptStmts(in);
	copy_with_probes(in, out, &shape, block);
	return out;
}
