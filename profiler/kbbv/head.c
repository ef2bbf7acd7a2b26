/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The head of a profile: which process was profiled. */

#include "pub_tool_libcbase.h"
#include "pub_tool_clientstate.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_xarray.h"
#include "kbbv.h"
#include <elf.h>

/* Declared as in Valgrind's pub_core_clientstate.h; libcoregrind exports them. */
extern Int VG_(cl_exec_fd);
extern Bool VG_(resolve_filename)(Int descriptor, const HChar **name);

enum { LARGEST_NOTES = 1 << 16, LARGEST_ID = 64, IN_INSTRUCTIONS = 0 };

static Bool read_at(Int file, ULong offset, void *data, UInt length)
{
	return VG_(lseek)(file, (Off64T)offset, VKI_SEEK_SET) == (Off64T)offset &&
	       VG_(read)(file, data, (Int)length) == (Int)length;
}

static UInt padded(UInt length)
{
	return (length + 3) & ~3U;
}

static void write_hex(const UChar *octets, UInt length, HChar *text)
{
	for (UInt i = 0; i < length; i++)
		VG_(sprintf)(text + 2 * i, "%02x", octets[i]);
}

/* Looks for the build-id among the notes of a segment. */
static Bool find_id(const UChar *notes, ULong length, HChar *text)
{
	ULong at = 0;

	while (at + sizeof(Elf64_Nhdr) <= length) {
		const Elf64_Nhdr *note = (const Elf64_Nhdr *)(notes + at);
		ULong name = at + sizeof(*note);
		ULong id = name + padded(note->n_namesz);

		at = id + padded(note->n_descsz);
		if (at > length || note->n_type != NT_GNU_BUILD_ID || note->n_namesz != 4 ||
		    VG_(memcmp)(notes + name, "GNU", 4) != 0 || note->n_descsz > LARGEST_ID)
			continue;
		write_hex(notes + id, note->n_descsz, text);
		return True;
	}
	return False;
}

static Bool find_id_in_segment(Int file, const Elf64_Phdr *segment, HChar *text)
{
	UChar *notes;
	Bool found;

	if (segment->p_type != PT_NOTE || segment->p_filesz > LARGEST_NOTES)
		return False;
	notes = VG_(malloc)("kbbv.notes", segment->p_filesz);
	found = read_at(file, segment->p_offset, notes, (UInt)segment->p_filesz) &&
		find_id(notes, segment->p_filesz, text);
	VG_(free)(notes);
	return found;
}

/* The build-id in hexadecimal; empty if the program has none. */
static void read_build_id(const HChar *path, HChar *text)
{
	Int file = VG_(fd_open)(path, VKI_O_RDONLY, 0);
	Elf64_Phdr segment;
	Elf64_Ehdr header;

	text[0] = '\0';
	if (file < 0)
		return;
	if (read_at(file, 0, &header, sizeof(header)) &&
	    VG_(memcmp)(header.e_ident, ELFMAG, SELFMAG) == 0) {
		for (UInt i = 0; i < header.e_phnum; i++) {
			if (!read_at(file, header.e_phoff + i * sizeof(segment), &segment,
				     sizeof(segment)) ||
			    find_id_in_segment(file, &segment, text))
				break;
		}
	}
	VG_(close)(file);
}

void head_write(ULong interval, UInt parent)
{
	HChar build_id[2 * LARGEST_ID + 1];
	const HChar *path = "";
	Word arguments = VG_(sizeXA)(VG_(args_for_client));

	if (!VG_(resolve_filename)(VG_(cl_exec_fd), &path))
		path = "";
	read_build_id(path, build_id);
	stream_begin(FRAME_HEAD);
	stream_number(interval);
	stream_number(IN_INSTRUCTIONS);
	stream_text("kbbv");
	stream_number((ULong)VG_(getpid)());
	stream_number(parent);
	stream_text(build_id);
	stream_text(path);
	stream_number((ULong)arguments + 1);
	stream_text(VG_(args_the_exename));
	for (Word i = 0; i < arguments; i++)
		stream_text(*(HChar **)VG_(indexXA)(VG_(args_for_client), i));
	stream_finish();
}
