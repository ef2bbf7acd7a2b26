// SPDX-License-Identifier: GPL-2.0-or-later
#include "verify/build_id.h"

#include <cstdint>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <unistd.h>
#include <vector>

#include "verify/digest.h"
#include "base/file.h"

namespace kadence
{

namespace
{

const uint64_t largest_note = 65536;

bool read_at(int file, uint64_t offset, void *target, size_t bytes)
{
	return pread(file, target, bytes, static_cast<off_t>(offset)) ==
	       static_cast<ssize_t>(bytes);
}

size_t padded(size_t bytes)
{
	return (bytes + 3) & ~size_t{3};
}

std::string search_notes(const std::vector<unsigned char> &notes)
{
	Elf64_Nhdr header;

	for (size_t at = 0; at + sizeof(header) <= notes.size();) {
		memcpy(&header, &notes[at], sizeof(header));
		const size_t name = at + sizeof(header);
		const size_t value = name + padded(header.n_namesz);
		const size_t next = value + padded(header.n_descsz);
		if (value > notes.size() || value + header.n_descsz > notes.size())
			return {};
		if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == sizeof(ELF_NOTE_GNU) &&
		    !memcmp(&notes[name], ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)))
			return hexadecimal(notes.data() + value, header.n_descsz);
		at = next;
	}
	return {};
}

} // namespace

std::string build_id_of(const std::filesystem::path &program)
{
	const descriptor file(open(program.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
	Elf64_Ehdr head;
	Elf64_Phdr segment;

	if (!read_at(file.get(), 0, &head, sizeof(head)) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    head.e_phentsize != sizeof(segment))
		return {};
	for (unsigned i = 0; i < head.e_phnum; i++) {
		if (!read_at(file.get(), head.e_phoff + i * sizeof(segment), &segment,
			     sizeof(segment)))
			return {};
		if (segment.p_type != PT_NOTE || segment.p_filesz > largest_note)
			continue;
		std::vector<unsigned char> notes(segment.p_filesz);
		if (!read_at(file.get(), segment.p_offset, notes.data(), notes.size()))
			return {};
		const std::string found = search_notes(notes);
		if (!found.empty())
			return found;
	}
	return {};
}

} // namespace kadence
