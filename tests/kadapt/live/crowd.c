// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * crowd COUNT UNIT: so many processes start others for ever, one after the other. Each of those has
 * threads that enter and leave phases, one of which takes the unit, and sleep there. It ends in one
 * of the ways below.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kadapt.h"

#define THREADS 2
#define LIFE_MS 40 /* at most */

static int device;
static unsigned int dice;

static unsigned int throw_dice(void)
{
	dice = dice * 1103515245 + 12345;
	return dice >> 16 & 0x7fff;
}

/* The call is one of the unit's functions. */
static void sleep_ms(unsigned int length)
{
	const struct timespec time = {.tv_nsec = length * 1000000L};

	nanosleep(&time, NULL);
}

/* The unit may be missing at any time. */
static void open_device(const char *unit)
{
	struct kadapt_policy policies[] = {{.phase = 0}, {.phase = 1}};
	struct kadapt_take take = {.phase = 1};

	strncpy(take.unit, unit, sizeof(take.unit) - 1);
	device = open("/dev/kadapt", O_RDWR | O_CLOEXEC);
	for (int i = 0; i < 2; i++)
		ioctl(device, KADAPT_DEFINE, &policies[i]);
	ioctl(device, KADAPT_TAKE, &take);
}

static void *go_in_and_out(void *argument)
{
	const char *unit = argument;
	struct kadapt_take take = {.phase = 1};

	strncpy(take.unit, unit, sizeof(take.unit) - 1);
	for (;;) {
		ioctl(device, KADAPT_TAKE, &take);
		ioctl(device, KADAPT_ENTER, 1);
		sleep_ms(1);
		ioctl(device, KADAPT_ENTER, 0);
		sleep_ms(1);
		ioctl(device, KADAPT_ENTER, 1);
		sleep_ms(1);
		ioctl(device, KADAPT_LEAVE, 0);
	}
	return NULL;
}

static void wait_to_be_killed(void)
{
	for (;;)
		sleep_ms(2);
}

/* A child in the middle of its parent's phase. */
static void have_child(void)
{
	if (fork() == 0) {
		sleep_ms(2);
		_exit(0);
	}
	wait(NULL);
}

/* The other threads are in phases meanwhile, and go on. */
static void close_device(void)
{
	close(device);
	sleep_ms(5);
}

static void become_another(void)
{
	execl("/bin/true", "true", NULL);
}

static void do_nothing(void)
{
}

/* How a process ends; who returns exits in the phase. */
static void (*const ends[])(void) = {
    do_nothing, wait_to_be_killed, have_child, close_device, become_another,
};

static void live(const char *unit)
{
	pthread_t threads[THREADS];

	open_device(unit);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, go_in_and_out, (void *)unit);
	ioctl(device, KADAPT_ENTER, 1);
	sleep_ms(throw_dice() % 10);
	ends[throw_dice() % (sizeof(ends) / sizeof(*ends))]();
	_exit(0);
}

static void start_others(const char *unit)
{
	for (;;) {
		unsigned int seed = throw_dice();
		pid_t pid = fork();

		if (pid == 0) {
			dice = seed;
			live(unit);
		}
		sleep_ms(10 + throw_dice() % LIFE_MS);
		/* Without a process, this would name all. */
		if (pid > 0)
			kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
}

int main(int count, char **words)
{
	if (count != 3)
		return 2;
	for (int i = 0; i < atoi(words[1]); i++) {
		dice = i;
		if (fork() == 0)
			start_others(words[2]);
	}
	pause();
	return 0;
}
