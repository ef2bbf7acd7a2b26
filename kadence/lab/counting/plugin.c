// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counts the code that a guest runs in one section of its run, without any change of the guest.
 *
 *	-plugin PLUGIN.so,out=FILE[,OPTION...]
 *	section=NUMBER		the section; 1, the lab's command, if there is no number
 *	switch=ADDRESS		of __switch_to_asm, in hexadecimal: the counts are by phase
 *	caches=BYTES/WAYS+...	models caches of these geometries
 *	only=programs		the caches have nothing of the kernel
 *
 * FILE gets what blocks.h, phases.h and caches.h describe.
 *
 * A program in the guest begins section N by the instruction `nopl 0x4b4144NN(%rax)`, and ends it
 * by the one with N = 0. The guest must have one processor.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../marks.h"
#include "../options.h"
#include "../qemu.h"
#include "blocks.h"
#include "caches.h"
#include "ending.h"
#include "phases.h"

#define SWITCH_BYTES 128 /* of __switch_to_asm, up to its jump */

int qemu_plugin_version = QEMU_PLUGIN_VERSION;

static const char *out;
static uint64_t switch_address;
static unsigned long section = 1;
static bool is_counting, only_programs;

static void on_block(unsigned int processor, void *data)
{
	struct block *block = data;

	(void)processor;
	if (!is_counting)
		return;
	if (!block_ran(block, phase_now()) || (only_programs && block->address >= KERNEL))
		return;
	for (unsigned int i = 0; i < block->line_count; i++)
		line_fetched(block->lines[i]);
}

static void on_mark(unsigned int processor, void *number)
{
	(void)processor;
	is_counting = (uintptr_t)number == section;
}

static void on_switch(unsigned int processor, uint32_t info, uint64_t slot, void *data)
{
	(void)processor;
	(void)info;
	(void)data;
	phase_stack(slot);
}

static void on_phase_mark(unsigned int processor, void *data)
{
	const enum phase_mark mark = (uintptr_t)data;

	(void)processor;
	if (mark == BIT_CLEAR || mark == BIT_SET)
		phase_bit(mark);
	else if (mark == PHASE)
		phase_begins();
	else
		phase_ends();
}

static void look_for_marks(struct qemu_plugin_insn *instruction)
{
	const uint64_t address = qemu_plugin_insn_vaddr(instruction);
	const uint8_t *bytes = bytes_of(instruction);

	if (is_mark(instruction, "DAK"))
		qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_mark, QEMU_PLUGIN_CB_NO_REGS,
						       (void *)(uintptr_t)bytes[3]);
	if (switch_address && is_mark(instruction, "PAK"))
		qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_phase_mark,
						       QEMU_PLUGIN_CB_NO_REGS,
						       (void *)(uintptr_t)bytes[3]);
	if (switch_address && address - switch_address < SWITCH_BYTES && is_push_or_pop(bytes))
		qemu_plugin_register_vcpu_mem_cb(instruction, on_switch, QEMU_PLUGIN_CB_NO_REGS,
						 QEMU_PLUGIN_MEM_RW, NULL);
}

/* An instruction may lie on two lines. The host's pages need not be neighbours. */
static void add_line(struct block *block, uint64_t address, uint64_t host)
{
	struct line *line = line_at(address, host);

	if (block->line_count == LINES ||
	    (block->line_count && block->lines[block->line_count - 1] == line))
		return;
	block->lines[block->line_count++] = line;
}

/* Fowler, Noll and Vo's checksum. */
static uint64_t content_of(const struct qemu_plugin_tb *translated, size_t instructions)
{
	uint64_t sum = 0xcbf29ce484222325ULL;

	for (size_t i = 0; i < instructions; i++) {
		const struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(translated, i);
		const uint8_t *bytes = bytes_of(instruction);

		for (size_t byte = 0; byte < qemu_plugin_insn_size(instruction); byte++)
			sum = (sum ^ bytes[byte]) * 0x100000001b3ULL;
	}
	return sum;
}

static void keep_begin(struct block *block, const struct qemu_plugin_insn *instruction)
{
	const uint8_t *bytes = bytes_of(instruction);

	for (size_t i = 0; i < qemu_plugin_insn_size(instruction); i++)
		if (block->begin_bytes < BEGIN)
			block->begin[block->begin_bytes++] = bytes[i];
}

static void describe(struct block *block, const struct qemu_plugin_tb *translated)
{
	const struct qemu_plugin_insn *instruction = NULL;
	uint64_t address = block->address;

	for (size_t i = 0; i < block->instructions; i++) {
		instruction = qemu_plugin_tb_get_insn(translated, i);
		address = qemu_plugin_insn_vaddr(instruction);
		const uint64_t host = (uintptr_t)qemu_plugin_insn_haddr(instruction);
		const uint64_t last = qemu_plugin_insn_size(instruction) - 1;

		keep_begin(block, instruction);
		add_line(block, address, host);
		if ((address + last) >> LINE_LOG != address >> LINE_LOG &&
		    (address + last) >> 12 == address >> 12)
			add_line(block, address + last, host + last);
	}
	block->last = address;
	block->bytes = address + qemu_plugin_insn_size(instruction) - block->address;
	block->ending = ending_of(bytes_of(instruction), qemu_plugin_insn_size(instruction),
				  address, &block->target);
}

static void translated_block(uint64_t id, struct qemu_plugin_tb *translated)
{
	const struct qemu_plugin_insn *first = qemu_plugin_tb_get_insn(translated, 0);
	const uint64_t page = (uintptr_t)qemu_plugin_insn_haddr(first) >> 12;
	const size_t count = qemu_plugin_tb_n_insns(translated);
	bool is_new;
	struct block *block =
	    block_at(qemu_plugin_insn_vaddr(first), page, content_of(translated, count), &is_new);

	(void)id;
	if (is_new) {
		block->instructions = count;
		describe(block, translated);
	}
	/* First, so that a block that ends the section is not counted, and the next one is. */
	for (size_t i = 0; i < count; i++)
		look_for_marks(qemu_plugin_tb_get_insn(translated, i));
	qemu_plugin_register_vcpu_tb_exec_cb(translated, on_block, QEMU_PLUGIN_CB_NO_REGS, block);
}

static void print(uint64_t id, void *data)
{
	FILE *file = fopen(out, "w");

	(void)id;
	(void)data;
	if (!file) {
		perror(out);
		return;
	}
	phases_print(file);
	blocks_print(file, phases_used());
	caches_print(file);
	if (fclose(file))
		perror(out);
}

static const char *refused(int count, char **options, int processors)
{
	const char *address = option(count, options, "switch");
	const char *geometries = option(count, options, "caches");

	out = option(count, options, "out");
	if (option(count, options, "section"))
		section = strtoul(option(count, options, "section"), NULL, 10);
	only_programs = option(count, options, "only");
	if (!out)
		return "the plugin needs out=FILE";
	if (processors != 1)
		return "the plugin counts one processor";
	if (address && sscanf(address, "%" SCNx64, &switch_address) != 1)
		return "switch= is no address";
	if (geometries && !caches_read(geometries))
		return "caches= has no such geometry as 32768/8, or too many";
	return NULL;
}

int qemu_plugin_install(uint64_t id, const struct qemu_info *info, int count, char **options)
{
	const char *why = refused(count, options, info->system.smp_vcpus);

	if (why) {
		fprintf(stderr, "kadence: %s\n", why);
		return 1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated_block);
	qemu_plugin_register_atexit_cb(id, print, NULL);
	return 0;
}
