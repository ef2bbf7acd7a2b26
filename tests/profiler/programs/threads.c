/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Three threads besides the first: the nth runs a loop of two instructions n x 100,000 times.
 */

#include <pthread.h>
#include <stdint.h>

static void *work(void *number)
{
	uint64_t rounds = (uintptr_t)number * 100000;

	__asm__ volatile("jmp 1f\n"
			 ".type two_instructions, @function\n"
			 "two_instructions: 1: dec %0\n"
			 "jnz 1b\n"
			 ".size two_instructions, . - two_instructions\n"
			 : "+r"(rounds));
	return NULL;
}

int main(void)
{
	pthread_t threads[3];

	for (uintptr_t i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, work, (void *)(i + 1));
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
