// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counts the calls of a guest's kernel, and their instructions, without any change of the guest.
 *
 *	-plugin PLUGIN.so,functions=FILE,out=FILE
 *
 * functions.h says what both files hold. With paths=FILE, FILE gets what paths.h describes. With
 * ignored=LOW-HIGH, two addresses in hexadecimal, instructions between them are not counted: an
 * instrument in the guest then has no part in the counts by which it is judged.
 *
 * A program in the guest begins section N (1 to 127) by the instruction `nopl 0x4b4144NN(%rax)`,
 *and ends it by the one with N = 0. The kernel marks the phases of tasks, see
 *kadapt/driver/mark/mark.c. QEMU must run all processors in one thread.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../marks.h"
#include "../options.h"
#include "../qemu.h"
#include "functions.h"
#include "paths.h"
#include "stacks.h"

#define KERNEL 0xffff800000000000ULL

int qemu_plugin_version = QEMU_PLUGIN_VERSION;

/* Of one processor the instructions are counted exactly; of several, each block is in full. */
static bool has_several;
static struct counter counted;
static uint64_t reported;
static uint64_t ran[PROCESSORS];
/*
 * How long each processor is in the kernel since it left a program: what it ran itself, and what
 * the other one ran while it waited for that one in a loop. QEMU lets them take turns, and a
 * processor that waits ends its turn by `pause`; at the end of any other turn it would have gone
 * on.
 */
static uint64_t stayed[PROCESSORS];
static bool waits[PROCESSORS];
static const char *out, *paths;
static uint64_t ignored_low, ignored_high;
/*
 * Calls and returns that have begun, and those whose access was seen. QEMU before 8.0 leaves an
 * instruction's callback in place when it ends a block: what helpers access then, such as those of
 * cmpxchg16b and xsaves, is reported as the last call's. Only the first access is its own.
 */
static struct counter begun;
static uint64_t seen;

static void report(unsigned int processor)
{
	if (has_several) {
		stacks_ran(processor, ran[processor]);
		ran[processor] = 0;
		return;
	}
	stacks_ran(processor, counter_value(&counted) - reported);
	reported = counter_value(&counted);
}

static void goes_on(unsigned int processor, uint64_t instructions)
{
	waits[processor] = false;
	for (int other = 0; other < PROCESSORS; other++)
		if (waits[other])
			stayed[other] += instructions;
}

static void on_block_of_kernel(unsigned int processor, void *instructions)
{
	goes_on(processor, (uintptr_t)instructions);
	ran[processor] += (uintptr_t)instructions;
	stayed[processor] += (uintptr_t)instructions;
}

static void on_block_of_program(unsigned int processor, void *instructions)
{
	goes_on(processor, (uintptr_t)instructions);
	if (stayed[processor])
		stacks_left(processor, stayed[processor]);
	stayed[processor] = 0;
}

static void on_pause(unsigned int processor, void *data)
{
	(void)data;
	waits[processor] = true;
}

static void on_function(unsigned int processor, void *function)
{
	report(processor);
	stacks_began(processor, function);
}

static bool is_own_access(void)
{
	uint64_t now = counter_value(&begun);
	bool is_own = now != seen;

	seen = now;
	return is_own;
}

static void on_call(unsigned int processor, uint32_t info, uint64_t slot, void *data)
{
	(void)info;
	(void)data;
	if (!is_own_access())
		return;
	report(processor);
	stacks_called(processor, slot);
}

static void on_return(unsigned int processor, uint32_t info, uint64_t slot, void *data)
{
	(void)info;
	(void)data;
	if (!is_own_access())
		return;
	report(processor);
	stacks_returned(processor, slot);
}

static void on_mark(unsigned int processor, void *section)
{
	report(processor);
	stacks_enter((int)(uintptr_t)section);
}

static void on_phase_mark(unsigned int processor, void *data)
{
	static uint32_t numbers[PROCESSORS];
	uint32_t *number = &numbers[processor];
	enum phase_mark mark = (uintptr_t)data;

	if (mark == BIT_CLEAR || mark == BIT_SET) {
		*number = *number << 1 | mark;
		return;
	}
	report(processor);
	stacks_phase(processor, mark == PHASE ? function_phase(*number) : NULL);
	*number = 0;
}

/* call rel32, call r/m, each with prefixes. A far call (/3) does not occur. */
static bool is_call(const uint8_t *bytes)
{
	while (*bytes == 0x2e || *bytes == 0x3e || (*bytes & 0xf0) == 0x40)
		bytes++;
	return *bytes == 0xe8 || (*bytes == 0xff && (bytes[1] & 0x38) == 0x10);
}

static bool is_return(const uint8_t *bytes)
{
	return bytes[*bytes == 0xf3] == 0xc3 || *bytes == 0xc2;
}

static bool is_pause(const uint8_t *bytes)
{
	return *bytes == 0xf3 && bytes[1] == 0x90;
}

static void look_at_kernel(struct qemu_plugin_insn *instruction)
{
	const uint8_t *bytes = bytes_of(instruction);

	uint64_t address = qemu_plugin_insn_vaddr(instruction);

	if (!has_several && !(address >= ignored_low && address < ignored_high))
		counter_count(&counted, instruction);
	if (is_call(bytes) || is_return(bytes))
		counter_count(&begun, instruction);
	if (is_call(bytes))
		qemu_plugin_register_vcpu_mem_cb(instruction, on_call, QEMU_PLUGIN_CB_NO_REGS,
						 QEMU_PLUGIN_MEM_W, NULL);
	/* QEMU 7.2 does not say that a return reads. */
	else if (is_return(bytes))
		qemu_plugin_register_vcpu_mem_cb(instruction, on_return, QEMU_PLUGIN_CB_NO_REGS,
						 QEMU_PLUGIN_MEM_RW, NULL);
	else if (is_mark(instruction, "PAK"))
		qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_phase_mark,
						       QEMU_PLUGIN_CB_NO_REGS,
						       (void *)(uintptr_t)bytes[3]);
	else if (has_several && is_pause(bytes))
		qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_pause,
						       QEMU_PLUGIN_CB_NO_REGS, NULL);
}

static void look_at_program(struct qemu_plugin_insn *instruction)
{
	const uint8_t *bytes = bytes_of(instruction);
	uintptr_t section;

	if (!is_mark(instruction, "DAK"))
		return;
	section = bytes[3] % SECTIONS;
	qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_mark, QEMU_PLUGIN_CB_NO_REGS,
					       (void *)section);
}

static void translated(uint64_t id, struct qemu_plugin_tb *block)
{
	size_t count = qemu_plugin_tb_n_insns(block);
	uint64_t address = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(block, 0));
	bool is_kernel = address >= KERNEL;
	struct function *function = is_kernel ? function_at(address) : NULL;

	(void)id;
	/* First, so that the function's first block is its own. */
	if (function)
		qemu_plugin_register_vcpu_tb_exec_cb(block, on_function, QEMU_PLUGIN_CB_NO_REGS,
						     function);
	if (has_several)
		qemu_plugin_register_vcpu_tb_exec_cb(
		    block, is_kernel ? on_block_of_kernel : on_block_of_program,
		    QEMU_PLUGIN_CB_NO_REGS, (void *)count);
	for (size_t i = 0; i < count; i++)
		(is_kernel ? look_at_kernel : look_at_program)(qemu_plugin_tb_get_insn(block, i));
}

static void print_to(const char *path, void (*print)(FILE *file))
{
	FILE *file = path ? fopen(path, "w") : NULL;

	if (path && (!file || (print(file), fclose(file))))
		perror(path);
}

static void print(uint64_t id, void *data)
{
	(void)id;
	(void)data;
	print_to(out, functions_print);
	print_to(paths, paths_print);
}

int qemu_plugin_install(uint64_t id, const struct qemu_info *info, int count, char **options)
{
	const char *functions = option(count, options, "functions");

	const char *ignored = option(count, options, "ignored");

	out = option(count, options, "out");
	paths = option(count, options, "paths");
	if (!functions || !out) {
		fprintf(stderr, "kadence: the plugin needs functions=FILE and out=FILE\n");
		return 1;
	}
	if (ignored && (sscanf(ignored, "%" SCNx64 "-%" SCNx64, &ignored_low, &ignored_high) != 2 ||
			info->system.smp_vcpus > 1)) {
		fprintf(stderr, "kadence: the plugin needs ignored=LOW-HIGH and one processor\n");
		return 1;
	}
	if (info->system.smp_vcpus > PROCESSORS) {
		fprintf(stderr, "kadence: the plugin counts %d processors at most\n", PROCESSORS);
		return 1;
	}
	if (!functions_read(functions)) {
		fprintf(stderr, "kadence: cannot read functions from %s\n", functions);
		return 1;
	}
	has_several = info->system.smp_vcpus > 1;
	counter_make(&counted);
	counter_make(&begun);
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	qemu_plugin_register_atexit_cb(id, print, NULL);
	return 0;
}
