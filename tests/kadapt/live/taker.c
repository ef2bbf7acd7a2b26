// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Enters phases of which one takes the unit `answer`, and prints what adjtimex() gives.
 *
 *	taker           once in each place
 *	taker stay      in the phase, at once and after each line that it reads
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/timex.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kadapt.h"

#define MORE 100000

static int device;

static const char *version(void)
{
	struct timex clock = {0};

	return adjtimex(&clock) >= MORE ? "variant" : "original";
}

static void tell(const char *where)
{
	printf("%s: %s\n", where, version());
	fflush(stdout);
}

static int take(unsigned int phase, const char *unit)
{
	struct kadapt_take take = {.phase = phase};

	strncpy(take.unit, unit, sizeof(take.unit) - 1);
	return ioctl(device, KADAPT_TAKE, &take) ? errno : 0;
}

static void define(unsigned int phase)
{
	struct kadapt_policy policy = {.phase = phase};

	if (ioctl(device, KADAPT_DEFINE, &policy))
		perror("define");
}

static void *in_thread(void *nothing)
{
	tell("another thread");
	return nothing;
}

static void in_child(void)
{
	if (fork() == 0) {
		tell("child");
		_exit(0);
	}
	wait(NULL);
}

static void go_through(void)
{
	pthread_t thread;

	tell("before");
	ioctl(device, KADAPT_ENTER, 0);
	tell("phase 0");
	ioctl(device, KADAPT_ENTER, 1);
	tell("phase 1");
	pthread_create(&thread, NULL, in_thread, NULL);
	pthread_join(thread, NULL);
	in_child();
	tell("phase 1 again");
	ioctl(device, KADAPT_LEAVE, 0);
	tell("left");
	ioctl(device, KADAPT_ENTER, 1);
	close(device);
	tell("closed");
}

static void stay(void)
{
	char line[16];

	ioctl(device, KADAPT_ENTER, 1);
	tell("stays");
	while (fgets(line, sizeof(line), stdin))
		tell("stays");
	ioctl(device, KADAPT_ENTER, 0);
	ioctl(device, KADAPT_ENTER, 1);
	tell("entered anew");
}

int main(int count, char **words)
{
	(void)words;
	device = open("/dev/kadapt", O_RDWR | O_CLOEXEC);
	define(0);
	define(1);
	printf("errors: %s, %s, %s\n", strerror(take(2, "answer")), strerror(take(1, "nothing")),
	       strerror(take(KADAPT_UNIT_NAME * 100, "answer")));
	printf("take: %d %d\n", take(1, "answer"), take(1, "answer"));
	if (count > 1)
		stay();
	else
		go_through();
	return 0;
}
