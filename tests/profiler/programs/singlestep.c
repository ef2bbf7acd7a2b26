/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts a program's instructions by single-stepping all its processes and threads. For each
 * program that a process ran, it prints `process program-of-the-process instructions`.
 *
 * A string instruction with a repeat prefix traps at every round; it counts once, at its last
 * round. An instruction that faults does not count: it traps once it is done.
 */

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	MOST = 64,
	OPTIONS = PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
		  PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL
};

struct task {
	pid_t id;
	int program;
	unsigned long long instructions;
	unsigned long long at; /* address of the next instruction */
	bool enters;	       /* enters a signal handler, which makes a stop of its own */
};

static struct task tasks[MOST];
static int used;

static struct task *task_of(pid_t id)
{
	for (int i = 0; i < used; i++) {
		if (tasks[i].id == id)
			return &tasks[i];
	}
	if (used == MOST)
		exit(3);
	tasks[used] = (struct task){.id = id, .program = 1};
	return &tasks[used++];
}

static unsigned long long address_of(pid_t id)
{
	struct user_regs_struct registers;

	return ptrace(PTRACE_GETREGS, id, 0, &registers) ? 0 : registers.rip;
}

static bool is_string_operation(unsigned char code)
{
	return (code >= 0xa4 && code <= 0xa7) || (code >= 0xaa && code <= 0xaf);
}

static bool repeats(pid_t id, unsigned long long address)
{
	long word = ptrace(PTRACE_PEEKTEXT, id, address, 0);
	const unsigned char *code = (const unsigned char *)&word;
	bool rex = (code[1] & 0xf0) == 0x40;

	return (code[0] == 0xf2 || code[0] == 0xf3) && is_string_operation(code[rex ? 2 : 1]);
}

static void stepped(struct task *task)
{
	unsigned long long next = address_of(task->id);

	if (next != task->at || !repeats(task->id, next))
		task->instructions++;
	task->at = next;
}

static void tell(const struct task *task)
{
	printf("%d %d %llu\n", task->id, task->program, task->instructions);
}

/* The call that ends a process never returns, so it does not trap. */
static void ended(struct task *task, int status)
{
	task->instructions += WIFEXITED(status);
	tell(task);
}

/* The step over execve is reported as the new program's first stop. */
static void became_another(struct task *task)
{
	task->instructions++;
	tell(task);
	task->program++;
	task->instructions = 0;
	task->at = 0;
}

/* Returns the signal with which the task is to continue. */
static int look(struct task *task, int status)
{
	int number = WSTOPSIG(status);

	if (status >> 16 == PTRACE_EVENT_EXEC)
		became_another(task);
	if (status >> 16)
		return 0;
	if (number == SIGSTOP)
		return 0;
	if (number != SIGTRAP) {
		task->enters = number == SIGSEGV; /* the only one that the test programs handle */
		return number;
	}
	if (task->enters)
		task->at = address_of(task->id);
	else if (task->at == 0 && task->program > 1)
		task->at = address_of(task->id); /* the end of exec, counted above */
	else
		stepped(task);
	task->enters = false;
	return 0;
}

int main(int argc, char **argv)
{
	int status;
	pid_t id;

	if (argc < 2)
		return 2;
	id = fork();
	if (id == 0) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		execv(argv[1], argv + 1);
		_exit(127);
	}
	waitpid(id, &status, 0);
	ptrace(PTRACE_SETOPTIONS, id, 0, OPTIONS);
	task_of(id)->at = address_of(id);
	ptrace(PTRACE_SINGLESTEP, id, 0, 0);
	while ((id = waitpid(-1, &status, __WALL)) > 0) {
		struct task *task = task_of(id);

		if (WIFSTOPPED(status))
			ptrace(PTRACE_SINGLESTEP, id, 0, look(task, status));
		else
			ended(task, status);
	}
	return errno == ECHILD ? 0 : 1;
}
