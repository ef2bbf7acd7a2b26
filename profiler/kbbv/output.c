/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file of a profile. It is written under a temporary name beside the final one, and renamed
 * with its first row. A program that cannot be started therefore does not destroy an older profile.
 */

#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_mallocfree.h"
#include "kbbv.h"

/* Declared as in Valgrind's pub_core_libcfile.h; libcoregrind exports it. */
extern Int VG_(safe_fd)(Int descriptor);

static Int descriptor = -1;
static HChar *final_path;
static HChar *temporary_path; /* NULL once the profile has its name */

Bool output_open(const HChar *path)
{
	final_path = VG_(strdup)("kbbv.path", path);
	temporary_path = VG_(malloc)("kbbv.path", VG_(strlen)(path) + sizeof(".4294967295.new"));
	VG_(sprintf)(temporary_path, "%s.%d.new", path, VG_(getpid)());
	descriptor = VG_(fd_open)(temporary_path, VKI_O_WRONLY | VKI_O_CREAT | VKI_O_TRUNC, 0666);
	/* Beyond the program's reach: the program may close all descriptors that it can have. */
	if (descriptor >= 0)
		descriptor = VG_(safe_fd)(descriptor);
	return output_is_open();
}

Bool output_is_open(void)
{
	return descriptor >= 0;
}

Bool output_is_published(void)
{
	return output_is_open() && !temporary_path;
}

/* In a forked child: closes the file, which is the parent's. */
void output_leave(void)
{
	if (descriptor >= 0)
		VG_(close)(descriptor);
	descriptor = -1;
	VG_(free)(temporary_path);
	VG_(free)(final_path);
	temporary_path = final_path = NULL;
}

void output_discard(void)
{
	if (temporary_path)
		VG_(unlink)(temporary_path);
	output_leave();
}

static void complain(Int error)
{
	VG_(umsg)("kbbv: cannot write the profile (error %d)\n", error);
	output_leave();
}

void output_write(const UChar *bytes, SizeT length)
{
	SizeT written = 0;

	while (written < length && output_is_open()) {
		Int step = VG_(write)(descriptor, bytes + written, (Int)(length - written));

		if (step > 0)
			written += (SizeT)step;
		else
			complain(-step);
	}
}

void output_publish(void)
{
	if (!temporary_path || !output_is_open())
		return;
	if (VG_(rename)(temporary_path, final_path) != 0) {
		complain(VKI_EACCES);
		return;
	}
	VG_(free)(temporary_path);
	temporary_path = NULL;
	process_list(final_path);
}
