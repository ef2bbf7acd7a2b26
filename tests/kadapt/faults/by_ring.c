// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes records through a ring of its own, without the library. */
#include <errno.h>
#include <unistd.h>

#include "device.h"
#include "writer.h"

#define RING_BYTES 16384
/* The kernel unbinds the ring within the longest pause. */
#define DELAY_NS NS_PER_MS

int writer_equip(struct writer *writer)
{
	int device = open_device();

	return device < 0 ? -1 : ring_make(&writer->ring, device, RING_BYTES);
}

static int refused(struct writer *writer, int error)
{
	atomic_store(&writer->progress->refusal, error);
	return -1;
}

static int write_plainly(struct writer *writer, const void *record)
{
	size_t size = writer->sequence->size;
	ssize_t written = write(writer->sink->write_end, record, size);

	if (written == (ssize_t)size)
		return 0;
	return refused(writer, written < 0 ? errno : EIO);
}

static bool ring_takes(struct writer *writer, const void *record)
{
	bool taken = ring_append(&writer->ring, record, writer->sequence->size);

	atomic_fetch_add(&writer->progress->ringed, taken);
	return taken;
}

/* Drains the ring, or binds the ring again if the kernel has unbound it. */
static int make_room(struct writer *writer)
{
	if (ring_drain(&writer->ring) == 0)
		return 0;
	if (errno != ENOLINK)
		return refused(writer, errno);
	if (ring_bind_for(&writer->ring, writer->sink->write_end, DELAY_NS) == 0)
		atomic_fetch_add(&writer->progress->bound, 1);
	else
		atomic_store(&writer->progress->unbound, errno);
	return 0;
}

int writer_take(struct writer *writer, const void *record)
{
	if (ring_takes(writer, record))
		return 0;
	if (make_room(writer))
		return -1;
	return ring_takes(writer, record) ? 0 : write_plainly(writer, record);
}
