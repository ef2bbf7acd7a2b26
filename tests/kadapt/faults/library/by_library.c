// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes records by write(), which the library interposes. */
#include <errno.h>
#include <unistd.h>

#include "libkadapt.h"
#include "ring/rings.h"
#include "writer.h"

const struct kadapt_plan kadapt_plan = {
    .abi = KADAPT_PLAN_ABI,
    .flags = KADAPT_PLAN_IO | KADAPT_PLAN_STREAMS,
};

/* As in objects that the plugin compiles, so that the whole library is linked. */
const int *const anchor __attribute__((used)) = &kadapt_io_anchor;

int writer_equip(struct writer *writer)
{
	(void)writer;
	return 0;
}

int writer_take(struct writer *writer, const void *record)
{
	struct progress *progress = writer->progress;
	size_t size = writer->sequence->size;
	ssize_t written = write(writer->sink->write_end, record, size);

	atomic_store(&progress->ringed, kadapt_rings_appended().records);
	atomic_store(&progress->bound, (uint32_t)kadapt_binds);
	if (written == (ssize_t)size)
		return 0;
	atomic_store(&progress->refusal, written < 0 ? errno : EIO);
	return -1;
}
