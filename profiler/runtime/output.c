// SPDX-License-Identifier: MIT
#include "kprofile.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	LONGEST_COMMAND_LINE = 1 << 21,
	/* The file's and the first frame's head, before that frame's body. */
	HEAD_BYTES = STREAM_HEAD_BYTES + FRAME_HEADER,
};

static char directory[PATH_MAX], program[PATH_MAX], path[2 * PATH_MAX + 64];
static const char *wanted;
static long process, parent;
static bool forked, placed;

/* Launchers of parallel programs set these variables to the rank. */
static const char *rank(void)
{
	static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
					    "SLURM_PROCID"};

	for (size_t index = 0; index < sizeof(names) / sizeof(*names); index++)
		if (getenv(names[index]))
			return getenv(names[index]);
	return "0";
}

/* Copies the variables now, because the program may change its environment. */
void output_initialise(void)
{
	static char pattern[PATH_MAX], rank_text[16];
	const char *given = getenv("KADENCE_PROFILE_OUTPUT");
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);

	program[length > 0 ? length : 0] = 0;
	if (!getcwd(directory, sizeof(directory)))
		directory[0] = 0;
	snprintf(rank_text, sizeof(rank_text), "%s", rank());
	if (given && *given) {
		size_t used = 0;

		for (; *given && used + sizeof(rank_text) < sizeof(pattern); given++) {
			if (given[0] == '%' && given[1] == 'r') {
				used += (size_t)sprintf(pattern + used, "%s", rank_text);
				given++;
				continue;
			}
			if (given[0] == '%' && given[1])
				pattern[used++] = *given++;
			pattern[used++] = *given;
		}
		wanted = pattern;
	}
	interval_choose(getenv("KADENCE_PROFILE_INTERVAL"));
	interval_begin();
	process = getpid();
}

void output_forget(void)
{
	parent = process;
	process = getpid();
	forked = true;
	placed = false;
	interval_begin();
}

long output_process(void)
{
	return process;
}

static size_t append_number(char *to, long number)
{
	char digits[20];
	size_t count = 0, length;

	do
		digits[count++] = (char)('0' + number % 10);
	while (number /= 10);
	for (length = 0; count; length++)
		to[length] = digits[--count];
	return length;
}

static size_t append(char *to, const char *text)
{
	size_t length = strlen(text);

	memcpy(to, text, length);
	return length;
}

static size_t place_default(void)
{
	const char *slash = strrchr(program, '/');
	size_t used = append(path, directory);

	path[used++] = '/';
	used += append(path + used, slash ? slash + 1 : program);
	path[used++] = '.';
	used += append_number(path + used, process);
	return used + append(path + used, ".kprof");
}

static size_t place_wanted(void)
{
	bool named = false;
	size_t used = 0;

	if (*wanted != '/') {
		used = append(path, directory);
		path[used++] = '/';
	}
	for (const char *at = wanted; *at && used < sizeof(path) - 64; at++) {
		if (at[0] == '%' && at[1] == 'p') {
			used += append_number(path + used, process);
			named = true;
			at++;
		} else if (at[0] == '%' && at[1] == '%') {
			path[used++] = *at++;
		} else {
			path[used++] = *at;
		}
	}
	if (forked && !named) {
		path[used++] = '.';
		used += append_number(path + used, process);
	}
	return used;
}

static uint64_t number_at(const unsigned char **at, const unsigned char *end)
{
	uint64_t value = 0;

	for (int shift = 0; *at < end && shift < 63; shift += 7) {
		unsigned char octet = *(*at)++;

		value |= (uint64_t)(octet & 0x7f) << shift;
		if (octet < 0x80)
			break;
	}
	return value;
}

/* Whether this process wrote the existing file before it became another program. */
static bool is_ours(void)
{
	unsigned char head[96];
	int file = (int)call_kernel(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0, 0);
	long length = 0;
	const unsigned char *at = head + HEAD_BYTES;

	if (file < 0)
		return false;
	length = call_kernel(SYS_read, file, (long)head, sizeof(head), 0, 0);
	call_kernel(SYS_close, file, 0, 0, 0, 0);
	if (length < HEAD_BYTES + 16 || memcmp(head, STREAM_HEAD, PROFILE_MAGIC_BYTES) != 0)
		return false;
	number_at(&at, head + length);
	number_at(&at, head + length);
	at += number_at(&at, head + length);
	return at < head + length && number_at(&at, head + length) == (uint64_t)process;
}

const char *output_path(void)
{
	size_t used;

	if (placed)
		return path;
	placed = true;
	used = wanted ? place_wanted() : place_default();
	path[used] = 0;
	for (int before = 1; before < 100 && is_ours(); before++) {
		path[used] = '.';
		path[used + 1 + append_number(path + used + 1, before)] = 0;
	}
	return path;
}

static void put_build_id(const char *notes, size_t size)
{
	static const char digits[] = "0123456789abcdef";
	char text[128];
	size_t used = 0;

	for (size_t at = 0; at + sizeof(Elf64_Nhdr) <= size;) {
		const Elf64_Nhdr *note = (const void *)(notes + at);
		const char *name = notes + at + sizeof(*note);
		const unsigned char *text_of_note =
		    (const void *)(name + ((note->n_namesz + 3) & ~3u));

		if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
		    !memcmp(name, "GNU", 4)) {
			for (size_t byte = 0; byte < note->n_descsz && byte < 64; byte++) {
				text[used++] = digits[text_of_note[byte] >> 4];
				text[used++] = digits[text_of_note[byte] & 15];
			}
			break;
		}
		at += sizeof(*note) + ((note->n_namesz + 3) & ~3u) + ((note->n_descsz + 3) & ~3u);
	}
	stream_text(text, used);
}

static void put_program(void)
{
	const Elf64_Phdr *headers = (const void *)getauxval(AT_PHDR); // NOLINT
	const size_t count = getauxval(AT_PHNUM);
	const Elf64_Phdr *notes = NULL;
	uintptr_t base = 0;

	for (const Elf64_Phdr *header = headers; header < headers + count; header++)
		if (header->p_type == PT_PHDR)
			base = (uintptr_t)headers - header->p_vaddr;
	for (const Elf64_Phdr *header = headers; header < headers + count; header++)
		if (header->p_type == PT_NOTE && header->p_align == 4)
			notes = header;
	if (notes)
		put_build_id((const char *)(base + notes->p_vaddr), notes->p_memsz);
	else
		stream_text("", 0);
	stream_text(program, strlen(program));
}

static void put_arguments(void)
{
	int file = (int)call_kernel(SYS_openat, AT_FDCWD, (long)"/proc/self/cmdline",
				    O_RDONLY | O_CLOEXEC, 0, 0);
	char *text = memory_take(LONGEST_COMMAND_LINE);
	size_t length = 0, count = 0;
	long step = 0;

	while (text && file >= 0 && length < LONGEST_COMMAND_LINE) {
		step = call_kernel(SYS_read, file, (long)(text + length),
				   (long)(LONGEST_COMMAND_LINE - length), 0, 0);
		if (step <= 0)
			break;
		length += (size_t)step;
	}
	if (file >= 0)
		call_kernel(SYS_close, file, 0, 0, 0, 0);
	for (size_t at = 0; at < length; at++)
		count += !text[at];
	stream_number(count);
	for (const char *at = text; count; count--, at += strlen(at) + 1)
		stream_text(at, strlen(at));
}

void output_describe(void)
{
	stream_begin(FRAME_HEAD);
	stream_number(interval_length());
	stream_number(!interval_is_instructions());
	stream_text("compiled", 8);
	stream_number((uint64_t)process);
	stream_number((uint64_t)parent);
	put_program();
	put_arguments();
	stream_finish();
}
