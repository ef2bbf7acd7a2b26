/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How blocks of x86-64 instructions end (Intel's manual, volume 2, appendix A: opcode maps). */
#ifndef KADENCE_LAB_ENDING_H
#define KADENCE_LAB_ENDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "blocks.h"

/* The block's last instruction, of that size, is at the address. Sets the target if it has one. */
enum ending ending_of(const uint8_t *bytes, size_t size, uint64_t address, uint64_t *target);

/* Whether the instruction pushes or pops a register. */
bool is_push_or_pop(const uint8_t *bytes);

#endif
