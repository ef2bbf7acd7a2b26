/* SPDX-License-Identifier: MIT */
/*
 * The kind of this machine: the processor's model, the kernel's series and the memory in
 * GiB. What was learned on one kind says little about another.
 */
#ifndef LIBKADAPT_TRIALS_KIND_H
#define LIBKADAPT_TRIALS_KIND_H

#include <stdint.h>

#include "base/device_file.h"

struct kadapt_machine_kind {
	char processor[64]; /* as /proc/cpuinfo's "model name" */
	char kernel[64];    /* the release */
	uint64_t memory_bytes;
	long processors; /* online */
};

KADAPT_HIDDEN void kadapt_kind_look(struct kadapt_machine_kind *kind);

/*
 * The 64-bit FNV-1a hash of "PROCESSOR\nMAJOR.MINOR\nGIB", with the memory rounded to
 * the nearest GiB. The compiler plugin computes the same from the plan.
 */
KADAPT_HIDDEN uint64_t kadapt_kind_hash(const struct kadapt_machine_kind *kind);

#endif
