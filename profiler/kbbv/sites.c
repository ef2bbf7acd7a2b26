/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sites: the places in the program that system calls, and with them memory, come from.
 *
 * kbbv follows the stack of a system call out of the language's libraries. The first frame outside
 * is the site; the profile also names the library's function that the site called. In a static
 * program, the libraries' frames are in the program itself. There, the caller of the outermost
 * function with an allocator's name is the site.
 *
 * For calls that are not about memory, the site is the first frame outside the libraries that has
 * a line, or the first frame outside if none has. Because such calls are many, kbbv caches the
 * site of each stack by a hash of its return addresses.
 */

#include "pub_tool_libcbase.h"
#include "pub_tool_debuginfo.h"
#include "pub_tool_hashtable.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_stacktrace.h"
#include "kbbv.h"

extern Bool VG_(get_fnname_raw)(DiEpoch epoch, Addr address, const HChar **name);

enum { DEEPEST = 24, DEEPEST_TRANSFER = 16 };

ULong kbbv_request;

#define IO_CALL(name, family, type)
#define BATCHED_CALL(name, type)
#define MEMORY_CALL(name, family, type, request) {name, request},
#define SEEN_CALL(name) {name, NO_REQUEST},

static const struct {
	const HChar *name;
	enum request request;
} allocators[] = {
#include "calls.def"
};

static const HChar *const libraries[] = {
    "libc.",   "libc-",	 "ld-linux", "ld-2",  "libstdc++",  "libgfortran", "libm.",	  "libm-",
    "libmvec", "libgcc", "libgomp",  "librt", "libpthread", "libdl",	   "libquadmath",
};

struct site {
	struct site *next; /* these two are the head of a VgHashNode */
	UWord address;
	UInt id;
};

struct trace {
	Addr frames[DEEPEST];
	UInt depth;
};

static VgHashTable *known;  /* by address */
static VgHashTable *stacks; /* sites by the hash of the stack */
static UInt sites_used;

static Bool starts_with(const HChar *text, const HChar *prefix)
{
	return VG_(strncmp)(text, prefix, VG_(strlen)(prefix)) == 0;
}

/* The C library has several names for one function, some with a version. */
static Bool is_named(const HChar *symbol, const HChar *name)
{
	SizeT length = VG_(strlen)(name);

	if (starts_with(symbol, "__libc_"))
		symbol += 7;
	else if (starts_with(symbol, "__"))
		symbol += 2;
	return starts_with(symbol, name) && (symbol[length] == '\0' || symbol[length] == '@');
}

static Int allocator_of(const HChar *symbol)
{
	for (UInt i = 0; i < sizeof(allocators) / sizeof(allocators[0]); i++) {
		if (is_named(symbol, allocators[i].name))
			return (Int)i;
	}
	return -1;
}

enum request sites_request_at(Addr address)
{
	const HChar *symbol;
	Int allocator;

	if (!VG_(get_fnname_if_entry)(VG_(current_DiEpoch)(), address, &symbol))
		return NO_REQUEST;
	allocator = allocator_of(symbol);
	return allocator < 0 ? NO_REQUEST : allocators[allocator].request;
}

static Bool in_library(Addr address)
{
	const HChar *object, *name;

	if (!VG_(get_objname)(VG_(current_DiEpoch)(), address, &object))
		return False;
	name = VG_(strrchr)(object, '/');
	name = name ? name + 1 : object;
	for (UInt i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++) {
		if (starts_with(name, libraries[i]))
			return True;
	}
	return False;
}

/* Below a process's first function, the stack holds data that is not return addresses. */
static Bool is_code(Addr address)
{
	const HChar *object;

	return VG_(get_objname)(VG_(current_DiEpoch)(), address, &object);
}

static Bool is_allocator(Addr address)
{
	const HChar *symbol;

	return VG_(get_fnname_raw)(VG_(current_DiEpoch)(), address, &symbol) &&
	       allocator_of(symbol) >= 0;
}

/* The index of the program's first frame; the depth if there is none. */
static UInt own_frame(const struct trace *trace)
{
	UInt own = 0;

	while (own < trace->depth && in_library(trace->frames[own]))
		own++;
	if (own > 0)
		return own;
	for (UInt i = 0; i < trace->depth; i++) {
		if (is_allocator(trace->frames[i]))
			own = i + 1;
	}
	return own;
}

static void tell_symbol(Addr address)
{
	const HChar *symbol;

	if (!VG_(get_fnname_raw)(VG_(current_DiEpoch)(), address, &symbol))
		symbol = "";
	stream_text(symbol);
}

/* Copies every text immediately: the next query may invalidate the previous answer. */
static void describe(UInt id, const struct trace *trace, UInt own)
{
	DiEpoch epoch = VG_(current_DiEpoch)();
	const HChar *directory = "", *file = "", *object = "";
	Addr address = trace->frames[own];
	UInt line = 0;

	stream_begin(FRAME_SITE);
	stream_number(id);
	if (!VG_(get_filename_linenum)(epoch, address, &file, &directory, &line))
		line = 0;
	stream_number(line);
	stream_text(line ? directory : "");
	stream_text(line ? file : "");
	if (own > 0)
		tell_symbol(trace->frames[own - 1]);
	else
		stream_text("");
	tell_symbol(address);
	if (!VG_(get_objname)(epoch, address, &object))
		object = "";
	stream_text(object);
	stream_finish();
}

static UInt site_at(const struct trace *trace, UInt own)
{
	struct site *site;

	if (own >= trace->depth || !is_code(trace->frames[own]))
		return NO_SITE;
	if (!known)
		known = VG_(HT_construct)("kbbv.sites");
	site = VG_(HT_lookup)(known, trace->frames[own]);
	if (!site) {
		site = VG_(malloc)("kbbv.site", sizeof(*site));
		site->address = trace->frames[own];
		site->id = ++sites_used;
		VG_(HT_add_node)(known, site);
		describe(site->id, trace, own);
	}
	return site->id;
}

UInt sites_of_call(ThreadId id)
{
	struct trace trace;

	trace.depth = VG_(get_StackTrace)(id, trace.frames, DEEPEST, NULL, NULL, 0);
	return site_at(&trace, own_frame(&trace));
}

static Bool has_line(Addr address)
{
	const HChar *file;
	UInt line;

	return VG_(get_filename_linenum)(VG_(current_DiEpoch)(), address, &file, NULL, &line);
}

static UInt frame_with_line(const struct trace *trace)
{
	UInt first = 0;

	while (first < trace->depth && in_library(trace->frames[first]))
		first++;
	for (UInt i = first; i < trace->depth && is_code(trace->frames[i]); i++) {
		if (has_line(trace->frames[i]))
			return i;
	}
	return first;
}

/* FNV-1a, by words. Two different stacks have the same hash with a probability of 2**-64. */
static UWord hash_of(const struct trace *trace)
{
	UWord hash = 0xcbf29ce484222325ULL;

	for (UInt i = 0; i < trace->depth; i++)
		hash = (hash ^ trace->frames[i]) * 0x100000001b3ULL;
	return hash;
}

UInt sites_of_transfer(ThreadId id)
{
	struct trace trace;
	struct site *stack;
	UWord hash;

	if (!stacks)
		stacks = VG_(HT_construct)("kbbv.stacks");
	trace.depth = VG_(get_StackTrace)(id, trace.frames, DEEPEST_TRANSFER, NULL, NULL, 0);
	hash = hash_of(&trace);
	stack = VG_(HT_lookup)(stacks, hash);
	if (!stack) {
		stack = VG_(malloc)("kbbv.stack", sizeof(*stack));
		stack->address = hash;
		stack->id = site_at(&trace, frame_with_line(&trace));
		VG_(HT_add_node)(stacks, stack);
	}
	return stack->id;
}
