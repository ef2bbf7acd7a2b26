// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Checks of tracing, done as User-Mode Linux does it with each process of its programs (start_up.c
 * and skas/process.c below arch/um/os-Linux in the kernel's source).
 */
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe.h"

/* More than any processor has; the kernel returns the bytes that there are. */
#define REGISTERS_LIMIT (1 << 20)
#define SYSCALL_STOP (SIGTRAP | 0x80)

/* Stops, then calls getpid(). Its exit status is 0 if its tracer turned that into getppid(). */
static int traced_child(void *unused)
{
	(void)unused;
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		_exit(errno);
	raise(SIGSTOP);
	_exit(syscall(SYS_getpid) == getppid() ? 0 : EPROTO);
}

static pid_t refused(int error)
{
	errno = error;
	return -1;
}

/* Returns a stopped child that is traced, or -1 with errno from the child's PTRACE_TRACEME. */
static pid_t start_traced(void)
{
	pid_t child = fork();
	int status;

	if (child == 0)
		traced_child(NULL);
	if (child < 0 || waitpid(child, &status, WUNTRACED) < 0)
		return -1;
	if (WIFEXITED(status))
		return refused(WEXITSTATUS(status));
	/* A seccomp filter killed the child. */
	if (WIFSIGNALED(status))
		return refused(ENOSYS);
	return child;
}

static struct answer end(pid_t child, struct answer answer)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return answer;
}

static bool stops_at_call(pid_t child, int request)
{
	int status;

	do {
		if (ptrace(request, child, NULL, NULL) || waitpid(child, &status, 0) < 0)
			return false;
	} while (WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
	errno = EPROTO;
	return WIFSTOPPED(status) && WSTOPSIG(status) == SYSCALL_STOP;
}

/* Continues the child until it is about to call getpid(). */
static bool stops_at_getpid(pid_t child, int request)
{
	do {
		if (!stops_at_call(child, request))
			return false;
		errno = 0;
	} while (ptrace(PTRACE_PEEKUSER, child, offsetof(struct user_regs_struct, orig_rax),
			NULL) != SYS_getpid &&
		 !errno);
	return !errno;
}

static bool ends_well(pid_t child)
{
	int status;

	if (ptrace(PTRACE_CONT, child, NULL, NULL) || waitpid(child, &status, 0) < 0)
		return false;
	errno = EPROTO;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Changes the child's getpid() to getppid(). */
struct answer check_trace(const struct question *question)
{
	pid_t child = start_traced();

	(void)question;
	if (child < 0)
		return failed("PTRACE_TRACEME");
	if (ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_TRACESYSGOOD))
		return end(child, failed("PTRACE_SETOPTIONS"));
	if (!stops_at_getpid(child, PTRACE_SYSCALL))
		return end(child, failed("PTRACE_SYSCALL"));
	if (ptrace(PTRACE_POKEUSER, child, offsetof(struct user_regs_struct, orig_rax),
		   SYS_getppid))
		return end(child, failed("PTRACE_POKEUSER"));
	if (!ends_well(child))
		return end(child, failed("changing a system call's number"));
	return fine(0);
}

/* Intercepts the child's system call, so that the kernel does not execute it. */
struct answer check_emulate(const struct question *question)
{
	pid_t child = start_traced();

	(void)question;
	if (child < 0)
		return failed("PTRACE_TRACEME");
	if (ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_TRACESYSGOOD))
		return end(child, failed("PTRACE_SETOPTIONS"));
	if (!stops_at_call(child, PTRACE_SYSEMU_SINGLESTEP))
		return end(child, failed("PTRACE_SYSEMU_SINGLESTEP"));
	return end(child, fine(0));
}

/* Counts the bytes of a process's registers beside the general ones. */
struct answer check_registers(const struct question *question)
{
	struct iovec state = {malloc(REGISTERS_LIMIT), REGISTERS_LIMIT};
	pid_t child = start_traced();

	(void)question;
	if (child < 0)
		return failed("PTRACE_TRACEME");
	if (!state.iov_base)
		return end(child, failed("malloc"));
	if (ptrace(PTRACE_GETREGSET, child, NT_X86_XSTATE, &state))
		return end(child, failed("PTRACE_GETREGSET"));
	if (ptrace(PTRACE_SETREGSET, child, NT_X86_XSTATE, &state))
		return end(child, failed("PTRACE_SETREGSET"));
	return end(child, fine((long)state.iov_len));
}
