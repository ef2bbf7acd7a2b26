/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The process's identity and the name of its profile. If the first process's profile is P.kprof,
 * the profile of a child with the process id 123 is P.123.kprof. When that process becomes another
 * program, the new program's profile is P.123.2.kprof, and so on.
 *
 * For the program that a process becomes, Valgrind's launcher starts again with the same options.
 * process_pass_on() adds options that describe the process's past.
 */

#include "pub_tool_libcbase.h"
#include "pub_tool_clientstate.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_options.h"
#include "pub_tool_xarray.h"
#include "kbbv.h"

enum { NUMBERS = sizeof(".4294967295.4294967295.kprof") };

static const HChar suffix[] = ".kprof";

static const HChar *base; /* the first process's profile */
static const HChar *list; /* file that takes the names of the profiles, or NULL */
static Long parent;	  /* 0: this is the first process */
static Long program = 1;
static Long before; /* instructions since the fork that no profile has */
static Int own;
static HChar *path;

Bool process_option(const HChar *argument)
{
	if (VG_STR_CLO(argument, "--raw", base)) {
	} else if (VG_STR_CLO(argument, "--list", list)) {
	} else if (VG_BINT_CLO(argument, "--parent", parent, 0, 1LL << 31)) {
	} else if (VG_BINT_CLO(argument, "--program", program, 1, 1LL << 31)) {
	} else if (VG_BINT_CLO(argument, "--before", before, 0, 1LL << 62)) {
	} else {
		return False;
	}
	return True;
}

static Bool ends_with(const HChar *text, const HChar *end)
{
	SizeT length = VG_(strlen)(text), tail = VG_(strlen)(end);

	return length > tail && VG_(strcmp)(text + length - tail, end) == 0;
}

static void name_profile(void)
{
	Int stem = (Int)VG_(strlen)(base) - (ends_with(base, suffix) ? (Int)sizeof(suffix) - 1 : 0);
	Int length;

	VG_(free)(path);
	path = VG_(malloc)("kbbv.path", VG_(strlen)(base) + NUMBERS);
	if (parent == 0 && program == 1) {
		VG_(strcpy)(path, base);
		return;
	}
	/* Valgrind's printf knows no precision. */
	VG_(strncpy)(path, base, (SizeT)stem);
	length = stem + (Int)VG_(sprintf)(path + stem, ".%d", own);
	if (program > 1)
		length += (Int)VG_(sprintf)(path + length, ".%lld", program);
	VG_(strcpy)(path + length, suffix);
}

Bool process_initialise(void)
{
	if (!base)
		return False;
	own = VG_(getpid)();
	name_profile();
	return True;
}

void process_tell_past(void)
{
	if (before == 0)
		return;
	stream_begin(FRAME_PAST);
	stream_number((ULong)before);
	stream_finish();
}

void process_forked(void)
{
	parent = own;
	own = VG_(getpid)();
	program = 1;
	before = 0;
	name_profile();
}

const HChar *process_path(void)
{
	return path;
}

UInt process_parent(void)
{
	return (UInt)parent;
}

Bool process_is_only_forked(void)
{
	return parent != 0 && program == 1 && !output_is_published();
}

void process_list(const HChar *published)
{
	Int descriptor = list ? VG_(fd_open)(list, VKI_O_WRONLY | VKI_O_APPEND, 0) : -1;
	SizeT length = VG_(strlen)(published);
	HChar *line;

	if (descriptor < 0)
		return;
	/* One write call, because other processes also write. A name may contain \n, but no NUL. */
	line = VG_(strdup)("kbbv.line", published);
	VG_(write)(descriptor, line, (Int)length + 1);
	VG_(free)(line);
	VG_(close)(descriptor);
}

static void pass(const HChar *option, ULong value)
{
	HChar *text = VG_(malloc)("kbbv.option", VG_(strlen)(option) + NUMBERS);

	VG_(sprintf)(text, "%s%llu", option, value);
	VG_(addToXA)(VG_(args_for_valgrind), &text);
}

void process_pass_on(Bool has_profile, ULong instructions)
{
	pass("--parent=", (ULong)parent);
	pass("--program=", (ULong)program + (has_profile ? 1 : 0));
	pass("--before=", has_profile ? 0 : instructions);
}
