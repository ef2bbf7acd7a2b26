/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * VEX can make translated code count its entries with two instructions. A load, an addition and a
 * store in IR take four or five. Valgrind requests this only to print which blocks are hot
 * (--profile-flags), and then stores the counts in its own table. The linker therefore resolves
 * Valgrind's calls of VEX to this file (--wrap in build.mk), which requests the counting and sets
 * the address of the counter.
 */

#include "pub_tool_basics.h"
#include "pub_tool_libcassert.h"
#include "libvex.h"
#include "kbbv.h"

VexTranslateResult __real_LibVEX_Translate(VexTranslateArgs *arguments);
VexTranslateResult __wrap_LibVEX_Translate(VexTranslateArgs *arguments);

enum { NOWHERE = -1 }; /* no place in the host's code */

static VexTranslateArgs *current;
static ULong *entries;

void translate_count_entries(ULong *counter)
{
	entries = counter;
	current->addProfInc = True;
}

VexTranslateResult __wrap_LibVEX_Translate(VexTranslateArgs *arguments)
{
	VexTranslateResult result;

	current = arguments;
	result = __real_LibVEX_Translate(arguments);
	if (result.offs_profInc != NOWHERE) {
		LibVEX_PatchProfInc(arguments->arch_host, arguments->archinfo_host.endness,
				    arguments->host_bytes + result.offs_profInc, entries);
		result.offs_profInc = NOWHERE; /* nothing is left for Valgrind to patch */
	}
	return result;
}
