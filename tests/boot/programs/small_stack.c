// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A signal stack of 2,048 bytes, the minimum of sigaltstack(). A frame with AVX-512's registers
 * does not fit: the signal must then end the process (SIGSEGV) and leave the bytes below the stack
 * unchanged. Prints the signal that ended the child, or 0, and the number of bytes that changed.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGES = 8192, STACK = 2048, FILL = 0x5a };

static void handle(int number)
{
	(void)number;
	_exit(0);
}

static void deliver(char *memory)
{
	stack_t stack = {.ss_sp = memory + PAGES, .ss_size = STACK};
	struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};

	if (syscall(SYS_sigaltstack, &stack, NULL))
		_exit(3);
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
}

int main(void)
{
	char *memory =
	    mmap(NULL, 2 * PAGES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status, changed = 0;

	memset(memory, FILL, 2 * PAGES);
	if (!fork())
		deliver(memory);
	wait(&status);
	for (int i = 0; i < PAGES; i++)
		changed += memory[i] != FILL;
	printf("%d %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : 0, changed);
	return 0;
}
