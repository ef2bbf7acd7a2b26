// SPDX-License-Identifier: GPL-2.0-or-later
// A loop over an array, with vector intrinsics.
#include <emmintrin.h>
#include <stdio.h>

enum { LENGTH = 4096, ROUNDS = 500 };

__attribute__((noipa)) static __m128i mix(const __m128i *from, long length)
{
	__m128i sum = _mm_setzero_si128();

	for (long at = 0; at < length; at++) {
		const __m128i value = _mm_loadu_si128(&from[at]);

		sum = _mm_add_epi32(sum, _mm_xor_si128(value, _mm_slli_epi32(sum, 5)));
		sum = _mm_sub_epi16(sum, _mm_min_epi16(value, sum));
		sum = _mm_or_si128(sum, _mm_cmpgt_epi8(value, sum));
	}
	return sum;
}

int main(void)
{
	static __m128i field[LENGTH];
	int result = 0;

	for (int at = 0; at < LENGTH; at++)
		field[at] = _mm_set1_epi32(at * 977);
	for (int round = 0; round < ROUNDS; round++)
		result += _mm_cvtsi128_si32(mix(field, LENGTH));
	printf("%d\n", result);
	return 0;
}
