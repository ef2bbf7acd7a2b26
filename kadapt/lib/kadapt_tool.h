/* SPDX-License-Identifier: MIT */
/*
 * A tool that is told of an adapted program's phases: a shared library that KADAPT_TOOL
 * names in the environment. libkadapt opens it when the program starts, and calls these
 * functions of it, either of which may be missing. Programs contain nothing of it.
 *
 * The calls come from the thread that enters or leaves the phase, also from signal
 * handlers if a handler is adapted code. `name` is the phase's name in the plan, such as "compute",
 * or empty; it stays valid. A thread that ends, or calls exec, leaves its phase without a call. The
 * functions must keep errno.
 */
#ifndef KADAPT_TOOL_H
#define KADAPT_TOOL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

void kadapt_tool_enter(uint32_t phase, const char *name);
void kadapt_tool_leave(uint32_t phase, const char *name);

#ifdef __cplusplus
}
#endif

#endif
