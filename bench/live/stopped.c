// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Installs a module and removes its unit, while the other processor computes.
 *
 *	stopped alone               section 1 is 100 ms without anything
 *	stopped install FILE.ko     section 2 is finit_module()
 *	stopped remove UNIT         section 3 is the write that removes the unit
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mark.h"

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void stay_on(int processor)
{
	cpu_set_t processors;

	CPU_ZERO(&processors);
	CPU_SET(processor, &processors);
	if (sched_setaffinity(0, sizeof(processors), &processors))
		fail("sched_setaffinity");
}

static pid_t compute_elsewhere(void)
{
	pid_t child = fork();

	if (child == 0) {
		stay_on(1);
		for (;;)
			__asm__ volatile("");
	}
	return child;
}

static void install(const char *name)
{
	int module = open(name, O_RDONLY);
	long error;

	KADENCE_MARK("2");
	error = syscall(SYS_finit_module, module, "", 0);
	KADENCE_MARK("0");
	if (error)
		fail(name);
}

static void remove_unit(const char *name)
{
	char path[256];
	ssize_t written;
	int control;

	snprintf(path, sizeof(path), "/sys/kernel/kadapt/units/%s/installed", name);
	control = open(path, O_WRONLY);
	KADENCE_MARK("3");
	written = write(control, "0", 1);
	KADENCE_MARK("0");
	if (written != 1)
		fail(path);
}

static void wait_alone(void)
{
	KADENCE_MARK("1");
	usleep(100000);
	KADENCE_MARK("0");
}

int main(int count, char **words)
{
	pid_t other;

	if (count < 2)
		return 1;
	stay_on(0);
	other = compute_elsewhere();
	usleep(100000);
	if (!strcmp(words[1], "install") && count > 2)
		install(words[2]);
	else if (!strcmp(words[1], "remove") && count > 2)
		remove_unit(words[2]);
	else
		wait_alone();
	kill(other, SIGKILL);
	return 0;
}
