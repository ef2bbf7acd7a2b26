// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sleepers COUNT UNIT SECONDS: so many processes enter and leave a phase that takes the unit, and
 * sleep there, for so many seconds.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kadapt.h"

#define SLEEPS 5

static int64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void sleep_often(int number)
{
	const struct timespec pause = {.tv_nsec = 1000000 + number % 7 * 300000};

	for (int i = 0; i < SLEEPS; i++)
		nanosleep(&pause, NULL);
}

/* The unit may be missing at any time. */
static void live(int number, const char *unit, int64_t end_ns)
{
	int device = open("/dev/kadapt", O_RDWR | O_CLOEXEC);
	struct kadapt_policy policies[] = {{.phase = 0}, {.phase = 1}};
	struct kadapt_take take = {.phase = 1};

	strncpy(take.unit, unit, sizeof(take.unit) - 1);
	for (int i = 0; i < 2; i++)
		ioctl(device, KADAPT_DEFINE, &policies[i]);
	while (now_ns() < end_ns) {
		ioctl(device, KADAPT_TAKE, &take);
		ioctl(device, KADAPT_ENTER, 1);
		sleep_often(number);
		ioctl(device, KADAPT_ENTER, 0);
	}
}

int main(int count, char **words)
{
	int64_t end_ns;

	if (count != 4)
		return 1;
	end_ns = now_ns() + atoi(words[3]) * 1000000000LL;
	for (int i = 0; i < atoi(words[1]); i++) {
		if (fork() == 0) {
			live(i, words[2], end_ns);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
