/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * worker MILLIONS [CHILDREN [OWN [GATE]]]: each of CHILDREN forked children executes MILLIONS
 * million instructions in work(). The parent executes OWN million, or MILLIONS without children.
 * Then it opens GATE, a named pipe, and waits until another process opens the other end.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Two instructions per round. */
__attribute__((noinline)) void work(unsigned long rounds)
{
	if (rounds == 0)
		return;
	__asm__ volatile("1: decq %0\n\tjnz 1b" : "+r"(rounds) : : "cc");
}

int main(int count, char **arguments)
{
	unsigned long millions = strtoul(arguments[1], NULL, 10);
	int children = count > 2 ? atoi(arguments[2]) : 0;

	for (int child = 0; child < children; child++) {
		if (fork() == 0) {
			work(500000 * millions);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
	if (children == 0)
		work(500000 * millions);
	else if (count > 3)
		work(500000 * strtoul(arguments[3], NULL, 10));
	if (count > 4)
		open(arguments[4], O_RDONLY);
	return 0;
}
