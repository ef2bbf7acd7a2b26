/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process becomes another program. The new program gets its own profile if Valgrind can run it.
 * Valgrind cannot run a program that is set-uid or of another architecture, or if Valgrind itself
 * is out of reach (in another root directory, for example). kbbv runs such a program without
 * Valgrind; Valgrind by itself would refuse to start it.
 */

#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_aspacemgr.h"
#include "pub_tool_vkiscnums.h"
#include "kbbv.h"
#include <elf.h>

/* Declared as in Valgrind's pub_core_*.h; libcoregrind exports them. */
extern Bool VG_(clo_trace_children);
extern HChar *VG_(name_of_launcher);
extern SysRes VG_(pre_exec_check)(const HChar *path, Int *descriptor, Bool allow_setuid);
extern Int VG_(check_executable)(Bool *is_setuid, const HChar *path, Bool allow_setuid);
extern Bool VG_(am_is_valid_for_client)(Addr start, SizeT length, UInt protection);

enum {
	CURRENT_DIRECTORY = -100,
	EMPTY_PATH = 0x1000,
	HEAD = 256,
	DEEPEST_SCRIPT = 4,
	LONGEST = 4096
};

static Bool wanted; /* --trace-children, as the options set it */

void exec_initialise(void)
{
	wanted = VG_(clo_trace_children);
}

/* The path that execve would open; False if the call itself is invalid. */
static Bool path_of(UInt number, const UWord *arguments, HChar *path)
{
	Bool at = number == __NR_execveat;
	const HChar *given = (const HChar *)arguments[at ? 1 : 0];

	if (!VG_(am_is_valid_for_client)((Addr)given, 1, VKI_PROT_READ) ||
	    VG_(strlen)(given) >= LONGEST / 2)
		return False;
	if (!at || given[0] == '/' || (Int)arguments[0] == CURRENT_DIRECTORY)
		VG_(strcpy)(path, given);
	else if (given[0] == '\0' && arguments[4] & EMPTY_PATH)
		VG_(sprintf)(path, "/proc/self/fd/%d", (Int)arguments[0]);
	else
		VG_(sprintf)(path, "/proc/self/fd/%d/%s", (Int)arguments[0], given);
	return True;
}

static Bool is_there(const HChar *path)
{
	struct vg_stat status;

	return !sr_isError(VG_(stat)(path, &status));
}

static Bool valgrind_is_there(void)
{
	HChar *tool = VG_(malloc)("kbbv.tool", VG_(strlen)(VG_(libdir)) + HEAD);
	Bool found;

	VG_(sprintf)(tool, "%s/kbbv-amd64-linux", VG_(libdir));
	found = VG_(name_of_launcher) && VG_(name_of_launcher)[0] == '/' &&
		is_there(VG_(name_of_launcher)) && is_there(tool);
	VG_(free)(tool);
	return found;
}

static Bool is_our_architecture(const HChar *head, Int length)
{
	const Elf64_Ehdr *elf = (const Elf64_Ehdr *)head;

	return length >= (Int)sizeof(*elf) && elf->e_ident[EI_CLASS] == ELFCLASS64 &&
	       elf->e_machine == EM_X86_64;
}

/* Cuts the interpreter's path out of a script's first line. */
static HChar *interpreter_in(HChar *line)
{
	HChar *name = line + 2, *end;

	while (*name == ' ' || *name == '\t')
		name++;
	for (end = name; *end && *end != ' ' && *end != '\t' && *end != '\n'; end++)
		;
	*end = '\0';
	return name;
}

static Bool is_recordable(const HChar *path, UInt depth)
{
	HChar head[HEAD + 1];
	Bool is_setuid;
	Int file, length;

	VG_(check_executable)(&is_setuid, path, False);
	if (is_setuid || depth > DEEPEST_SCRIPT)
		return False;
	file = VG_(fd_open)(path, VKI_O_RDONLY, 0);
	if (file < 0)
		return False;
	length = VG_(read)(file, head, HEAD);
	VG_(close)(file);
	head[length > 0 ? length : 0] = '\0';
	if (VG_(strncmp)(head, "#!", 2) == 0)
		return is_recordable(interpreter_in(head), depth + 1);
	/* Like a shell, Valgrind takes a file without a known head for a script. */
	return VG_(memcmp)(head, ELFMAG, SELFMAG) != 0 || is_our_architecture(head, length);
}

static void finish_profile(const HChar *path, Bool recorded)
{
	threads_finish_rows();
	facts_write();
	stream_begin(FRAME_EXEC);
	stream_text(path);
	stream_number(recorded);
	stream_finish();
	stream_publish();
}

/*
 * A child that becomes another program before its first row is full has no profile of its own.
 * The new program receives the number of instructions that the child ran.
 */
static void pass_on(const HChar *path, Bool recorded)
{
	Bool discard = recorded && process_is_only_forked();
	ULong instructions = threads_instructions();

	if (!stream_is_open())
		return;
	if (discard)
		stream_discard();
	else
		finish_profile(path, recorded);
	if (recorded)
		process_pass_on(!discard, instructions);
}

Bool exec_will_succeed(UInt number, const UWord *arguments)
{
	HChar path[LONGEST];

	return path_of(number, arguments, path) &&
	       !sr_isError(VG_(pre_exec_check)(path, NULL, True));
}

void exec_prepare(UInt number, const UWord *arguments)
{
	HChar path[LONGEST];

	path_of(number, arguments, path);
	VG_(clo_trace_children) = wanted && is_recordable(path, 0) && valgrind_is_there();
	pass_on(path, VG_(clo_trace_children));
	if (!VG_(clo_trace_children))
		residency_leave_to_successor();
}
