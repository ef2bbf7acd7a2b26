/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * VEX can have translated code count how often it is entered, in two instructions in the place
 * of the four or five that a load, an addition and a store in IR come to. Valgrind asks for it
 * only to print which blocks are hot (--profile-flags), and then keeps the counts in its own
 * table. So the linker puts this in between (--wrap in build.mk), and here VEX is asked, and
 * told where the counter is.
 */

#include "pub_tool_basics.h"
#include "pub_tool_libcassert.h"
#include "libvex.h"
#include "kbbv.h"

VexTranslateResult __real_LibVEX_Translate(VexTranslateArgs *arguments);
VexTranslateResult __wrap_LibVEX_Translate(VexTranslateArgs *arguments);

enum { NOWHERE = -1 }; /* in the host's code */

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
		result.offs_profInc = NOWHERE; /* Valgrind has nothing to do */
	}
	return result;
}
