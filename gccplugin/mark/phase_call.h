/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The call to libkadapt that announces a phase. */
#ifndef KADENCE_PHASE_CALL_H
#define KADENCE_PHASE_CALL_H

#include "base/gcc_compat.h"

namespace kadence
{

/* Registers this file's roots with the garbage collector. Call it once at the start. */
void register_phase_call_roots(const char *plugin_name);

/* A new statement `kadapt_phase_enter(phase)`, not yet in any block. */
gimple *build_phase_call(uint32_t phase);

/* Whether `decl` is kadapt_phase_enter, in any declaration. */
bool is_phase_call(tree decl);

} // namespace kadence

#endif
