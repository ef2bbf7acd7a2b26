/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tallies of a thread's system calls: one for each number, kind of descriptor, site and peer.
 * Each row zeroes them, except for the time of the last call, so that the time between two calls
 * is known across rows.
 */

#include "pub_tool_libcbase.h"
#include "pub_tool_hashtable.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_mallocfree.h"
#include "kbbv.h"

static const vki_clockid_t monotonic = 1;
static const ULong nanoseconds_per_second = 1000000000;

static UWord key_of(const struct call *call)
{
	return (UWord)call->number | (UWord)call->descriptor << 16 | (UWord)call->site << 20 |
	       (UWord)call->peer << 44;
}

static Word differs(const void *one, const void *other)
{
	const struct calls *a = one, *b = other;

	return a->number != b->number || a->descriptor != b->descriptor || a->site != b->site ||
	       a->peer != b->peer;
}

static struct calls *calls_of(struct thread *thread, const struct call *call)
{
	struct calls wanted = {
	    .key = key_of(call),
	    .number = call->number,
	    .descriptor = call->descriptor,
	    .site = call->site,
	    .peer = call->peer,
	};
	struct calls *calls;

	if (!thread->calls)
		thread->calls = VG_(HT_construct)("kbbv.calls");
	calls = VG_(HT_gen_lookup)(thread->calls, &wanted, differs);
	if (calls)
		return calls;
	calls = VG_(malloc)("kbbv.calls", sizeof(*calls));
	*calls = wanted;
	VG_(HT_add_node)(thread->calls, calls);
	return calls;
}

void calls_begin(struct thread *thread, struct call *call)
{
	struct vki_timespec now;

	VG_(clock_gettime)(&now, monotonic);
	call->instructions = threads_clock(thread);
	call->nanoseconds = (ULong)now.tv_sec * nanoseconds_per_second + (ULong)now.tv_nsec;
}

static UInt bits_of(ULong bytes)
{
	UInt bits = 0;

	for (; bytes && bits < SIZES - 1; bytes >>= 1)
		bits++;
	return bits;
}

void calls_tally(struct thread *thread, const struct call *call)
{
	struct calls *calls = calls_of(thread, call);

	thread->row_calls += calls->count == 0;
	calls->count++;
	calls->bytes += call->bytes;
	calls->sequential += call->access == SEQUENTIAL;
	calls->random += call->access == RANDOM;
	if (call->transfers)
		calls->sizes[bits_of(call->bytes)]++;
	if (calls->called) {
		calls->gaps++;
		calls->instructions += call->instructions - calls->last_instructions;
		calls->nanoseconds += call->nanoseconds - calls->last_nanoseconds;
	}
	calls->called = True;
	calls->last_instructions = call->instructions;
	calls->last_nanoseconds = call->nanoseconds;
}

static void write_sizes(const struct calls *calls)
{
	UInt used = 0;

	for (UInt i = 0; i < SIZES; i++)
		used += calls->sizes[i] != 0;
	stream_number(used);
	for (UInt i = 0; i < SIZES; i++) {
		if (calls->sizes[i] == 0)
			continue;
		stream_number(i);
		stream_number(calls->sizes[i]);
	}
}

static void write(const struct calls *calls)
{
	stream_number(calls->number);
	stream_number(calls->descriptor);
	stream_number(calls->site);
	stream_number(calls->peer);
	stream_number(calls->count);
	stream_number(calls->bytes);
	stream_number(calls->sequential);
	stream_number(calls->random);
	stream_number(calls->gaps);
	stream_number(calls->instructions);
	stream_number(calls->nanoseconds);
	write_sizes(calls);
}

static void for_each_of_row(const struct thread *thread, void (*visit)(const struct calls *))
{
	const struct calls *calls;

	if (!thread->calls)
		return;
	VG_(HT_ResetIter)(thread->calls);
	while ((calls = VG_(HT_Next)(thread->calls))) {
		if (calls->count)
			visit(calls);
	}
}

static void name(const struct calls *calls)
{
	systemcalls_name(calls->number);
}

void calls_name(const struct thread *thread)
{
	for_each_of_row(thread, name);
}

void calls_write(const struct thread *thread)
{
	stream_number(thread->row_calls);
	for_each_of_row(thread, write);
}

/* Zeroes the tally for the next row; keeps the time of the last call. */
static void begin_anew(struct calls *calls)
{
	calls->count = calls->bytes = calls->sequential = calls->random = 0;
	calls->gaps = calls->instructions = calls->nanoseconds = 0;
	VG_(memset)(calls->sizes, 0, sizeof(calls->sizes));
}

void calls_clear(struct thread *thread)
{
	struct calls *calls;

	if (thread->row_calls == 0)
		return;
	thread->row_calls = 0;
	VG_(HT_ResetIter)(thread->calls);
	while ((calls = VG_(HT_Next)(thread->calls))) {
		if (calls->count)
			begin_anew(calls);
	}
}

static void free_calls(void *calls)
{
	VG_(free)(calls);
}

void calls_forget(struct thread *thread)
{
	if (thread->calls)
		VG_(HT_destruct)(thread->calls, free_calls);
	thread->calls = NULL;
	thread->row_calls = 0;
}
