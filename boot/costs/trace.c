// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measures the work of User-Mode Linux at each system call of its programs (userspace() in
 * arch/um/os-Linux/skas/process.c of the kernel's source). It sets a process's registers, lets the
 * process run to its next call, waits for it, and gets its registers. Kernel and process share a
 * processor.
 */

#include <elf.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "costs.h"

#define REGISTERS_LIMIT (1 << 16)

static void call_for_ever(void)
{
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
	for (;;)
		syscall(SYS_getppid);
}

/* Stays on one processor, which the child inherits. `all` gets the processors allowed before. */
static bool share_processor(cpu_set_t *all)
{
	cpu_set_t one;

	if (sched_getaffinity(0, sizeof(*all), all))
		return false;
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	return !sched_setaffinity(0, sizeof(one), &one);
}

/* Returns a stopped child that ends with this process, or -1 if tracing is forbidden. */
static pid_t start_traced(void)
{
	pid_t child = fork();
	int status;

	if (child == 0)
		call_for_ever();
	if (child < 0 || waitpid(child, &status, WUNTRACED) != child || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_EXITKILL))
		return -1;
	return child;
}

static bool answer_call(pid_t child)
{
	static char state[REGISTERS_LIMIT];
	struct iovec extended = {state, sizeof(state)};
	struct user_regs_struct registers;
	int status;

	if (ptrace(PTRACE_GETREGS, child, NULL, &registers) ||
	    ptrace(PTRACE_GETREGSET, child, NT_X86_XSTATE, &extended))
		return false;
	return !ptrace(PTRACE_SETREGSET, child, NT_X86_XSTATE, &extended) &&
	       !ptrace(PTRACE_SETREGS, child, NULL, &registers) &&
	       !ptrace(PTRACE_SYSEMU, child, NULL, NULL) && waitpid(child, &status, 0) == child &&
	       WIFSTOPPED(status);
}

long charge_trace(long count)
{
	static pid_t child;
	cpu_set_t all;
	long done = 0;

	if (!share_processor(&all))
		return -1;
	if (!child)
		child = start_traced();
	while (done >= 0 && done < count)
		done = child > 0 && answer_call(child) ? done + 1 : -1;
	sched_setaffinity(0, sizeof(all), &all);
	return done;
}
