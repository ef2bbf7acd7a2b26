// SPDX-License-Identifier: GPL-2.0-or-later
/* Sleeps in a phase that takes a unit, until its input ends. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "kadapt.h"

int main(int count, char **words)
{
	struct kadapt_policy policy = {.phase = 1};
	struct kadapt_take take = {.phase = 1};
	int device = open("/dev/kadapt", O_RDWR | O_CLOEXEC);
	char byte;

	if (count < 2)
		return 1;
	strncpy(take.unit, words[1], sizeof(take.unit) - 1);
	if (ioctl(device, KADAPT_DEFINE, &policy) || ioctl(device, KADAPT_TAKE, &take) ||
	    ioctl(device, KADAPT_ENTER, 1))
		perror(words[1]);
	while (read(0, &byte, 1) > 0)
		;
	return 0;
}
