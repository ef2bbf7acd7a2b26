// SPDX-License-Identifier: GPL-2.0-or-later
#include "device.h"
#include "writer.h"

/* One of this many records is followed by a pause: longer than a delay, or short. */
#define RECORDS_PER_PAUSE 512
#define LONGEST_PAUSE_NS (12 * NS_PER_MS)
#define LONGEST_SPIN 20000

int writer_begin(struct writer *writer, struct sink *sink, struct progress *progress,
		 const struct sequence *sequence)
{
	*writer = (struct writer){
	    .sink = sink,
	    .progress = progress,
	    .sequence = sequence,
	    .dice = sequence->seed,
	};
	if (writer_equip(writer))
		return -1;
	return sink_begin_writing(sink);
}

int writer_next(struct writer *writer)
{
	uint64_t record[LARGEST_RECORD / sizeof(uint64_t)];

	record_fill(writer->sequence, writer->number, record);
	if (writer_take(writer, record))
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
