// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tries each operation that a guest's start takes, in milliseconds and without a kernel:
 *
 *   kadence-probe DIRECTORY BYTES CHECK...
 *
 * writes a line for each check: its name, the error number of the step that failed or 0, the
 * check's count, and the step. Each check runs in a process of its own, so a seccomp filter that
 * kills ends only that check. The error number is then ENOSYS, because the system call does not
 * exist for this process. A check that takes longer than CHECK_SECONDS is killed, too.
 *
 * ../host.toml explains the names. The probe cannot see that a machine allows one program what it
 * forbids another, as SELinux's rules may.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe.h"

#define CHECK_SECONDS 10

static const struct {
	const char *name;
	check_function ask;
} checks[] = {
    {"proc", check_proc},	    {"trace", check_trace},	{"emulate", check_emulate},
    {"registers", check_registers}, {"file", check_file},	{"code", check_code},
    {"private", check_private},	    {"address", check_address}, {"mappings", check_mappings},
    {"processes", check_processes}, {"timer", check_timer},	{"processors", check_processors},
    {"clock", check_clock},
};

struct answer failed(const char *step)
{
	return (struct answer){.error = errno ? errno : EIO, .step = step};
}

struct answer fine(long value)
{
	return (struct answer){.step = "", .value = value};
}

/* Steps are static strings, so the child's pointer is valid in the parent, too. */
static struct answer ask_apart(check_function ask, const struct question *question)
{
	struct answer answer;
	int status;
	int ends[2];
	pid_t child;

	if (pipe(ends))
		return failed("pipe");
	child = fork();
	if (child < 0)
		return failed("fork");
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm(CHECK_SECONDS);
		answer = ask(question);
		_exit(write(ends[1], &answer, sizeof(answer)) != sizeof(answer));
	}
	close(ends[1]);
	if (read(ends[0], &answer, sizeof(answer)) != sizeof(answer))
		answer = (struct answer){.error = ENOSYS, .step = "its process was killed"};
	close(ends[0]);
	waitpid(child, &status, 0);
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		answer = (struct answer){.error = ETIMEDOUT, .step = "it hung"};
	return answer;
}

static check_function find(const char *name)
{
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
		if (!strcmp(checks[i].name, name))
			return checks[i].ask;
	fprintf(stderr, "kadence-probe: there is no check %s\n", name);
	exit(EXIT_FAILURE);
}

int main(int argc, char **argv)
{
	struct question question;
	char *end;

	if (argc < 3) {
		fprintf(stderr, "usage: kadence-probe DIRECTORY BYTES CHECK...\n");
		return EXIT_FAILURE;
	}
	question.directory = argv[1];
	question.memory_bytes = strtoull(argv[2], &end, 10);
	if (*end || !question.memory_bytes) {
		fprintf(stderr, "kadence-probe: %s is not a size\n", argv[2]);
		return EXIT_FAILURE;
	}
	for (int i = 3; i < argc; i++) {
		struct answer answer = ask_apart(find(argv[i]), &question);

		printf("%s %d %ld %s\n", argv[i], answer.error, answer.value, answer.step);
		fflush(stdout);
	}
	return EXIT_SUCCESS;
}
