// SPDX-License-Identifier: GPL-2.0-or-later
// An interpreter: one switch with 128 unrelated cases, all of them executed.
#include <stdint.h>
#include <stdio.h>

enum { CASES = 128, STEPS = 2000000 };

#define ONE(n)                                                                                     \
	case n:                                                                                    \
		value = (value + (n)*977u) ^ (value >> ((n) % 13 + 1));                            \
		break;
#define FOUR(n) ONE(n) ONE(n + 1) ONE(n + 2) ONE(n + 3)
#define SIXTEEN(n) FOUR(n) FOUR(n + 4) FOUR(n + 8) FOUR(n + 12)
#define SIXTY_FOUR(n) SIXTEEN(n) SIXTEEN(n + 16) SIXTEEN(n + 32) SIXTEEN(n + 48)

__attribute__((noipa)) static uint32_t interpret(unsigned steps)
{
	uint32_t value = 1;

	for (unsigned step = 0; step < steps; step++)
		switch ((value ^ step) % CASES) {
			SIXTY_FOUR(0)
			SIXTY_FOUR(64)
		}
	return value;
}

int main(void)
{
	printf("%u\n", interpret(STEPS));
	return 0;
}
