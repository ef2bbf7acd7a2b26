/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the lab's plugins use of QEMU's interface for plugins, version 1, as QEMU 7.2 documents it
 * (docs/devel/tcg-plugins.rst). Debian ships no header of it.
 */
#ifndef KADENCE_LAB_QEMU_H
#define KADENCE_LAB_QEMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QEMU_PLUGIN_VERSION 1
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
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *instruction, int operation,
						void *counter, uint64_t more);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *instruction, on_access *call,
				      int registers, int accesses, void *data);
void qemu_plugin_register_atexit_cb(uint64_t id, on_end *call, void *data);

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t index);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *instruction);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *instruction);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *instruction);
/* The host's address; of a system that is emulated. */
void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *instruction);

extern EXPORTED int qemu_plugin_version;
EXPORTED int qemu_plugin_install(uint64_t id, const struct qemu_info *info, int count,
				 char **options);

#endif
