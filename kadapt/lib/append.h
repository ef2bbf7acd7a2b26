/* SPDX-License-Identifier: MIT */
/*
 * The append: what a record costs when all is well. The callers' functions
 * compile to some forty instructions for 16 bytes.
 */
#ifndef LIBKADAPT_APPEND_H
#define LIBKADAPT_APPEND_H

#include <stddef.h>

#include "channel.h"

/* Longer records are written as they are: copying would cost more than the call. */
#define KADAPT_RECORD_MAX (KADAPT_RING_DEFAULT / 4)

/* Moves that overlap in the middle are shorter than a loop, for any size between. */
#define KADAPT_COPY_ENDS(bytes)                                                                    \
	do {                                                                                       \
		char first[bytes], last[bytes];                                                    \
                                                                                                   \
		__builtin_memcpy(first, from, bytes);                                              \
		__builtin_memcpy(last, from + size - (bytes), bytes);                              \
		__builtin_memcpy(to, first, bytes);                                                \
		__builtin_memcpy(to + size - (bytes), last, bytes);                                \
	} while (0)

typedef char kadapt_word __attribute__((vector_size(16), aligned(1), may_alias));

/* The same through `words` registers of 16 bytes for each end; there are 16. */
#define KADAPT_COPY_WORDS(words)                                                                   \
	do {                                                                                       \
		kadapt_word first[words], last[words];                                             \
                                                                                                   \
		_Pragma("GCC unroll 8") for (int i = 0; i < (words); i++)                          \
		{                                                                                  \
			first[i] = ((const kadapt_word *)from)[i];                                 \
			last[i] = ((const kadapt_word *)from_end)[i - (words)];                    \
		}                                                                                  \
		_Pragma("GCC unroll 8") for (int i = 0; i < (words); i++)                          \
		{                                                                                  \
			((kadapt_word *)to)[i] = first[i];                                         \
			((kadapt_word *)to_end)[i - (words)] = last[i];                            \
		}                                                                                  \
	} while (0)

/* As memcpy(), for sizes from 33 to KADAPT_SHORT_MAX. */
static inline __attribute__((always_inline)) void kadapt_copy_words(char *to, const char *from,
								    size_t size)
{
	const char *from_end = from + size;
	char *to_end = to + size;

	/* Lest each word's address take a register of its own, and the caller a frame. */
	__asm__("" : "+r"(from_end), "+r"(to_end));
	if (size <= 64)
		KADAPT_COPY_WORDS(2);
	else if (size <= 128)
		KADAPT_COPY_WORDS(4);
	else
		KADAPT_COPY_WORDS(8);
}

#define KADAPT_SHORT_MAX 256

/* As memcpy(), for sizes from 1 to KADAPT_SHORT_MAX, without a call. */
static inline __attribute__((always_inline)) void kadapt_copy_short(char *to, const char *from,
								    size_t size)
{
	if (size > 32)
		kadapt_copy_words(to, from, size);
	else if (size >= 16)
		KADAPT_COPY_ENDS(16);
	else if (size >= 8)
		KADAPT_COPY_ENDS(8);
	else if (size >= 4)
		KADAPT_COPY_ENDS(4);
	else if (size >= 2)
		KADAPT_COPY_ENDS(2);
	else
		*to = *from;
}

/* The same for all sizes above 0. */
static inline void kadapt_copy(char *to, const char *from, size_t size)
{
	if (size <= KADAPT_SHORT_MAX)
		kadapt_copy_short(to, from, size);
	else
		__builtin_memcpy(to, from, size);
}

static inline uint64_t kadapt_limit(const struct kadapt_ring_header *header)
{
	return __atomic_load_n(&header->limit, __ATOMIC_ACQUIRE);
}

/* All is written, and no error has been met since the last one was told. */
static inline int kadapt_holds_nothing(const struct kadapt_ring_header *header)
{
	return header->tail == __atomic_load_n(&header->head, __ATOMIC_RELAXED) &&
	       !__atomic_load_n(&header->error, __ATOMIC_RELAXED);
}

/* Does the ring accept so many bytes more? What was there before has been read. */
static inline int kadapt_fits(const struct kadapt_ring_header *header, size_t size)
{
	return header->tail + size <= kadapt_limit(header);
}

/* The ring was let go while the record was published: 1 if it went all the same. */
KADAPT_HIDDEN int kadapt_append_recover(struct kadapt_channel *channel,
					struct kadapt_ring_header *header, size_t size);

/* Where the next record goes; a record never wraps, as the data is mapped twice. */
static inline char *kadapt_place(const struct kadapt_channel *channel,
				 const struct kadapt_ring_header *header)
{
	return channel->data + (header->tail & channel->mask);
}

/* The record at that place is complete; 1 unless it must be written otherwise. */
static inline int kadapt_publish(struct kadapt_channel *channel, struct kadapt_ring_header *header,
				 size_t size)
{
	uint64_t end = header->tail + size;

	__atomic_store_n(&header->tail, end, __ATOMIC_RELEASE);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (__builtin_expect(end > kadapt_limit(header), 0))
		return kadapt_append_recover(channel, header, size);
	channel->appends++;
	return 1;
}

/* 1, or 0: it does not fit. From inside the channel, for sizes from 1 on. */
static inline int kadapt_append(struct kadapt_channel *channel, struct kadapt_ring_header *header,
				const void *record, size_t size)
{
	if (!kadapt_fits(header, size))
		return 0;
	kadapt_copy(kadapt_place(channel, header), record, size);
	return kadapt_publish(channel, header, size);
}

/*
 * The short way, for a thread that is alone and records that need no function's
 * help: so the caller needs no frame.
 */
static inline int kadapt_is_short(int descriptor, size_t size)
{
	return size - 1 < KADAPT_SHORT_MAX && kadapt_has_channel(descriptor) &&
	       __libc_single_threaded;
}

/*
 * Would the ring's tail be beyond its limit? Compared in memory, which the compiler
 * does to no atomic; a load is an acquiring one here as it is.
 */
static inline __attribute__((always_inline)) int
kadapt_is_beyond(const struct kadapt_ring_header *header, uint64_t end)
{
#ifdef __x86_64__
	int is_beyond;

	__asm__ volatile("cmpq %2, %1"
			 : "=@ccb"(is_beyond)
			 : "m"(header->limit), "r"(end)
			 : "memory");
	return __builtin_expect(is_beyond, 0);
#else
	return __builtin_expect(end > kadapt_limit(header), 0);
#endif
}

/* Where a record goes, and the ring's tail behind it. */
struct kadapt_slot {
	int is_open; /* the thread is inside the channel; else the short way is closed */
	char *place;
	uint64_t end;
};

static inline __attribute__((always_inline)) struct kadapt_slot
kadapt_short_begin(struct kadapt_channel *channel, struct kadapt_ring_header *header, size_t size)
{
	struct kadapt_slot slot = {0, NULL, 0};
	uint64_t tail;

	if (!header || channel->owner)
		return slot;
	channel->owner = (uintptr_t)__builtin_thread_pointer();
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	tail = header->tail;
	slot.end = tail + size;
	if (kadapt_is_beyond(header, slot.end)) {
		kadapt_channel_leave(channel);
		return slot;
	}
	slot.is_open = 1;
	slot.place = channel->data + (tail & channel->mask);
	return slot;
}

/* What became of a record: nothing, all, or all but kadapt_append_recover(). */
enum kadapt_short { KADAPT_SHORT_NOTHING, KADAPT_SHORT_DONE, KADAPT_SHORT_RECOVER };

/* The record is in its place. After RECOVER the thread is still inside the channel. */
static inline __attribute__((always_inline)) enum kadapt_short
kadapt_short_end(struct kadapt_channel *channel, struct kadapt_ring_header *header, uint64_t end)
{
	__atomic_store_n(&header->tail, end, __ATOMIC_RELEASE);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (kadapt_is_beyond(header, end))
		return KADAPT_SHORT_RECOVER;
	channel->appends++;
	kadapt_channel_leave(channel);
	return KADAPT_SHORT_DONE;
}

/* As write(2)'s first choice. */
static inline __attribute__((always_inline)) enum kadapt_short
kadapt_append_short(struct kadapt_channel *channel, const void *record, size_t size)
{
	struct kadapt_ring_header *header = channel->header;
	struct kadapt_slot slot;

	/* Lest its address be computed anew from the descriptor for each use. */
	__asm__("" : "+r"(channel));
	slot = kadapt_short_begin(channel, header, size);
	if (!slot.is_open)
		return KADAPT_SHORT_NOTHING;
	kadapt_copy_short(slot.place, record, size);
	return kadapt_short_end(channel, header, slot.end);
}

/* 1, or 0 with nothing done: for any record, with other threads about. */
static inline int kadapt_append_at_once(int descriptor, const void *record, size_t size)
{
	struct kadapt_channel *channel = &kadapt_channels[(unsigned int)descriptor];
	struct kadapt_ring_header *header;
	int appended = 0;

	if (!kadapt_has_channel(descriptor) || size - 1 >= KADAPT_RECORD_MAX)
		return 0;
	if (!channel->header || !kadapt_channel_enter(channel))
		return 0;
	header = channel->header;
	if (__builtin_expect(header != NULL, 1))
		appended = kadapt_append(channel, header, record, size);
	kadapt_channel_leave(channel);
	return appended;
}

#endif
