/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Uses large stack frames, then overflows the stack. A handler on another stack catches that. */
#define _GNU_SOURCE
#include <signal.h>
#include <unistd.h>

#include "blocks_of_many_sizes.h"

#define FRAME 500000

static unsigned long use_frames(int depth)
{
	volatile unsigned char frame[FRAME];

	for (size_t i = 0; i < sizeof(frame); i += 512)
		frame[i] = (unsigned char)depth;
	return depth ? use_frames(depth - 1) + frame[512] : frame[1024];
}

static void end(int number)
{
	static const char text[] = "caught\n";

	(void)number;
	_exit(write(1, text, sizeof(text) - 1) == sizeof(text) - 1 ? 3 : 4);
}

int main(void)
{
	const stack_t stack = {.ss_sp = malloc(1 << 20), .ss_size = 1 << 20};
	const struct sigaction action = {.sa_handler = end, .sa_flags = SA_ONSTACK};

	printf("%lu\n", use_frames(8));
	fflush(stdout);
	if (sigaltstack(&stack, NULL) || sigaction(SIGSEGV, &action, NULL))
		return 1;
	return (int)use_frames(1000000);
}
