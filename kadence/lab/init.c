// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * init: the first program of a guest in which single operations are measured.
 *
 * All files are in the initial RAM file system: this program as /init, and the words of the command
 * in /words, one per line. The guest uses none of the host's files, so nothing waits for the host.
 * Serial line 0 gets the command's output, then the lines of settle's report. The last line,
 * "status N", shows that the output is complete. The kernel's log goes to serial line 1.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define LINE "/dev/ttyS0"
#define WORDS "/words"
#define REPORT "/report"
#define MOST_WORDS 1000

static void copy_lines(const char *path)
{
	char line[256];
	FILE *file = fopen(path, "re");

	while (file && fgets(line, sizeof(line), file))
		fputs(line, stdout);
	if (file)
		fclose(file);
}

/* The terminal must pass output through unchanged: no carriage returns, no echo. */
static void open_line(void)
{
	struct termios settings;
	int line = open(LINE, O_RDWR | O_NOCTTY);

	if (line < 0 || tcgetattr(line, &settings))
		return;
	cfmakeraw(&settings);
	tcsetattr(line, TCSANOW, &settings);
	dup2(line, STDOUT_FILENO);
	dup2(line, STDERR_FILENO);
}

static void run_words(void)
{
	static char text[32768];
	char *words[MOST_WORDS + 1] = {NULL};
	FILE *file = fopen(WORDS, "re");
	size_t length = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
	int count = 0;

	text[length] = '\0';
	for (char *word = strtok(text, "\n"); word && count < MOST_WORDS; word = strtok(NULL, "\n"))
		words[count++] = word;
	if (words[0])
		execv(words[0], words);
	fprintf(stderr, "%s: %s\n", WORDS, strerror(errno));
	_exit(127);
}

static int wait_for(pid_t command)
{
	int status;

	while (waitpid(command, &status, 0) != command)
		if (errno != EINTR)
			return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(void)
{
	pid_t command;
	int status;

	mkdir("/proc", 0755);
	mount("proc", "/proc", "proc", 0, NULL);
	mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
	open_line();
	command = fork();
	if (command == 0)
		run_words();
	status = wait_for(command);
	copy_lines(REPORT);
	printf("status %d\n", status);
	fflush(stdout);
	tcdrain(STDOUT_FILENO);
	reboot(RB_AUTOBOOT);
	return EXIT_FAILURE;
}
