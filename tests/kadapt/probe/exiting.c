// SPDX-License-Identifier: GPL-2.0-or-later
/* exiting MS: a child stays in its exit for so long, because its parent traces it. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void __attribute__((noreturn)) be_child(void)
{
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
	_exit(7);
}

static int next_status(pid_t child)
{
	int status;

	if (waitpid(child, &status, 0) != child) {
		perror("waitpid");
		exit(1);
	}
	return status;
}

int main(int words, char **word)
{
	long length = words == 2 ? atol(word[1]) : 0;
	const struct timespec time = {length / 1000, length % 1000 * 1000000};
	pid_t child = fork();

	if (child == 0)
		be_child();
	next_status(child);
	ptrace(PTRACE_SETOPTIONS, child, NULL, (void *)PTRACE_O_TRACEEXIT);
	ptrace(PTRACE_CONT, child, NULL, NULL);
	if (next_status(child) >> 8 != (SIGTRAP | PTRACE_EVENT_EXIT << 8))
		return 1;
	nanosleep(&time, NULL);
	ptrace(PTRACE_CONT, child, NULL, NULL);
	return WEXITSTATUS(next_status(child)) != 7;
}
