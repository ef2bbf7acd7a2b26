// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <unistd.h>

#include "device.h"
#include "writer.h"

#define RING_BYTES 16384
/* Within the longest pause the kernel lets the file go. */
#define DELAY_NS NS_PER_MS

/* One of so many records is followed by a pause: long enough for a delay to pass, or short. */
#define RECORDS_PER_PAUSE 512
#define LONGEST_PAUSE_NS (12 * NS_PER_MS)
#define LONGEST_SPIN 20000

int writer_begin(struct writer *writer, struct sink *sink, struct progress *progress,
		 const struct sequence *sequence)
{
	int device = open_device();

	*writer = (struct writer){
	    .sink = sink,
	    .progress = progress,
	    .sequence = sequence,
	    .dice = sequence->seed,
	};
	if (device < 0 || ring_make(&writer->ring, device, RING_BYTES))
		return -1;
	return sink_begin_writing(sink);
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

/* Emptied, or bound anew where it was let go. */
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

static int take(struct writer *writer, const void *record)
{
	if (ring_takes(writer, record))
		return 0;
	if (make_room(writer))
		return -1;
	return ring_takes(writer, record) ? 0 : write_plainly(writer, record);
}

int writer_next(struct writer *writer)
{
	uint64_t record[LARGEST_RECORD / sizeof(uint64_t)];

	record_fill(writer->sequence, writer->number, record);
	if (take(writer, record))
		return -1;
	writer->number++;
	atomic_store(&writer->progress->told, writer->number);
	return 0;
}

static void pause_at_random(struct writer *writer)
{
	uint64_t thrown = dice_below(&writer->dice, RECORDS_PER_PAUSE);

	if (thrown == 0)
		sleep_for((int64_t)dice_below(&writer->dice, LONGEST_PAUSE_NS));
	if (thrown < 2)
		dice_spin(&writer->dice, LONGEST_SPIN);
}

void writer_write(struct writer *writer, uint64_t count)
{
	atomic_store(&writer->progress->begun, true);
	while (count-- && writer_next(writer) == 0)
		pause_at_random(writer);
	atomic_store(&writer->progress->ended, true);
}
