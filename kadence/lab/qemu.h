/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the lab's plugins use of QEMU's interface for plugins, as QEMU 7.2 and 10.0 document it
 * (docs/devel/tcg-plugins.rst), and all differences between these. Debian ships no header of it.
 * QEMU_MAJOR is the release that is installed; QEMU refuses a plugin that was built for the other.
 */
#ifndef KADENCE_LAB_QEMU_H
#define KADENCE_LAB_QEMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if QEMU_MAJOR >= 10
#define QEMU_PLUGIN_VERSION 4
#elif QEMU_MAJOR == 7
#define QEMU_PLUGIN_VERSION 1
#else
#error "the lab's plugins are known to work with QEMU 7 and 10 only"
#endif
#define EXPORTED __attribute__((visibility("default")))

struct qemu_info {
	const char *target_name;
	struct {
		int min, cur;
	} version;
	bool system_emulation;
	struct {
		int smp_vcpus, max_vcpus;
	} system;
};

struct qemu_plugin_tb;
struct qemu_plugin_insn;

enum { QEMU_PLUGIN_CB_NO_REGS };
enum { QEMU_PLUGIN_MEM_W = 2, QEMU_PLUGIN_MEM_RW = 3 };
enum { QEMU_PLUGIN_INLINE_ADD_U64 };

typedef void on_translation(uint64_t id, struct qemu_plugin_tb *block);
typedef void on_execution(unsigned int processor, void *data);
typedef void on_access(unsigned int processor, uint32_t info, uint64_t address, void *data);
typedef void on_end(uint64_t id, void *data);

void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, on_translation *call);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *block, on_execution *call,
					  int registers, void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *instruction,
					    on_execution *call, int registers, void *data);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *instruction, on_access *call,
				      int registers, int accesses, void *data);
void qemu_plugin_register_atexit_cb(uint64_t id, on_end *call, void *data);

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t index);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *instruction);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *instruction);
/* The host's address; of a system that is emulated. */
void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *instruction);

#if QEMU_PLUGIN_VERSION == 1

const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *instruction);
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *instruction, int operation,
						void *counter, uint64_t more);

/* Counts instructions without a call. */
struct counter {
	uint64_t value;
};

static inline void counter_make(struct counter *counter)
{
	counter->value = 0;
}

static inline void counter_count(struct counter *counter, struct qemu_plugin_insn *instruction)
{
	qemu_plugin_register_vcpu_insn_exec_inline(instruction, QEMU_PLUGIN_INLINE_ADD_U64,
						   &counter->value, 1);
}

static inline uint64_t counter_value(const struct counter *counter)
{
	return counter->value;
}

static inline const uint8_t *bytes_of(const struct qemu_plugin_insn *instruction)
{
	return qemu_plugin_insn_data(instruction);
}

#else

/* A number for each processor, at `offset` of the board's elements. */
struct processors_u64 {
	struct qemu_plugin_scoreboard *board;
	size_t offset;
};

size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *instruction, void *bytes, size_t size);
struct qemu_plugin_scoreboard *qemu_plugin_scoreboard_new(size_t element_bytes);
uint64_t qemu_plugin_u64_sum(struct processors_u64 numbers);
void qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(struct qemu_plugin_insn *instruction,
							 int operation,
							 struct processors_u64 numbers,
							 uint64_t more);

struct counter {
	struct processors_u64 numbers;
};

static inline void counter_make(struct counter *counter)
{
	counter->numbers.board = qemu_plugin_scoreboard_new(sizeof(uint64_t));
}

static inline void counter_count(struct counter *counter, struct qemu_plugin_insn *instruction)
{
	qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(instruction, QEMU_PLUGIN_INLINE_ADD_U64,
							    counter->numbers, 1);
}

static inline uint64_t counter_value(const struct counter *counter)
{
	return qemu_plugin_u64_sum(counter->numbers);
}

/* Until the next call. */
static inline const uint8_t *bytes_of(const struct qemu_plugin_insn *instruction)
{
	static uint8_t bytes[16];

	qemu_plugin_insn_data(instruction, bytes, sizeof(bytes));
	return bytes;
}

#endif

extern EXPORTED int qemu_plugin_version;
EXPORTED int qemu_plugin_install(uint64_t id, const struct qemu_info *info, int count,
				 char **options);

#endif
