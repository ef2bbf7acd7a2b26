// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <unistd.h>

#include "device.h"
#include "writer.h"

#define RING_BYTES 16384

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

static int write_plainly(struct writer *writer, const void *record)
{
	size_t size = writer->sequence->size;
	ssize_t written;

	atomic_store(&writer->progress->plain, true);
	written = write(writer->sink->write_end, record, size);
	atomic_store(&writer->progress->plain, false);
	if (written == (ssize_t)size)
		return 0;
	if (written >= 0)
		errno = EIO;
	atomic_store(&writer->progress->refusal, errno);
	return -1;
}

static bool ring_takes(struct writer *writer, const void *record, int *error)
{
	enum appended appended =
	    append(&writer->ring, writer->sink->write_end, record, writer->sequence->size);

	*error = appended == BROKEN ? errno : 0;
	if (appended == APPENDED)
		atomic_fetch_add(&writer->progress->ringed, 1);
	return appended == APPENDED;
}

/* Empty, so that order is kept whatever comes next; bound anew where it was let go. */
static int make_room(struct writer *writer)
{
	if (drain_patiently(&writer->ring))
		return -1;
	if (writer->ring.header->state & KADAPT_RING_BOUND)
		return 0;
	if (ring_bind(&writer->ring, writer->sink->write_end) == 0)
		atomic_fetch_add(&writer->progress->bound, 1);
	else
		atomic_store(&writer->progress->unbound, errno);
	return 0;
}

static int take(struct writer *writer, const void *record)
{
	int error;

	if (ring_takes(writer, record, &error))
		return 0;
	if (error || make_room(writer)) {
		atomic_store(&writer->progress->refusal, error ? error : errno);
		return -1;
	}
	if (ring_takes(writer, record, &error))
		return 0;
	if (!error)
		return write_plainly(writer, record);
	atomic_store(&writer->progress->refusal, error);
	return -1;
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
