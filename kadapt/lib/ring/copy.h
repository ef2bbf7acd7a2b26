/* SPDX-License-Identifier: MIT */
/* Copying records, most of which are short. */
#ifndef LIBKADAPT_COPY_H
#define LIBKADAPT_COPY_H

#include <stddef.h>

/* Copy both ends, which may overlap: shorter than a loop for sizes in between. */
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

/* The same by `words` vector registers for each end; there are 16 in all. */
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

	/* So the words' addresses take no further registers, and the caller no frame. */
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

#endif
